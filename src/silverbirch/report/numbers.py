"""Formats numbers: significant digits only, separated thousands, a true minus sign."""

from __future__ import annotations

import math

_MINUS = "\N{MINUS SIGN}"


def count(value: float) -> str:
    """A number of rows or a weight; whole numbers have no decimals."""
    return number(value, 0 if float(value).is_integer() else 2)


def counted(number_of: int, one: str, many: str) -> str:
    return f"{number_of:,} {one if number_of == 1 else many}"


def whole(value: int) -> str:
    """A whole number. From 10,000 on, thousands are separated; years and ports are not."""
    return (f"{value:,}" if abs(value) >= 10_000 else str(value)).replace("-", _MINUS)


def number(value: float, decimals: int | None = None) -> str:
    """A number with this many decimals; None for four significant digits."""
    if not math.isfinite(value):
        return str(value)
    if decimals is None:
        decimals = decimals_for(value)
    if decimals > 6 or (abs(value) >= 1e9 and not float(value).is_integer()):
        text = f"{value:.4g}"
    else:
        text = f"{value:,.{decimals}f}"
        text = text if text.strip("-0.") else text.lstrip("-")  # no minus zero
    return text.replace("-", _MINUS)


def trimmed(value: float) -> str:
    """A parameter: up to six significant digits, without trailing zeros."""
    if not 1e-6 <= abs(value) < 1e15:
        return f"{value:.6g}".replace("-", _MINUS)
    text = f"{value:,.{decimals_for(value, digits=6)}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", _MINUS)


def decimals_for(size: float, digits: int = 4) -> int:
    """The number of decimals that gives a number of this size `digits` significant digits."""
    if size == 0 or not math.isfinite(size):
        return 0
    return max(0, digits - 1 - math.floor(math.log10(abs(size))))


def percent(share: float) -> str:
    if 0 < share < 0.0005:
        return "< 0.1 %"
    if 0.9995 <= share < 1:
        return "> 99.9 %"
    return f"{100 * share:.1f} %"


def signed(value: float, decimals: int | None) -> str:
    text = number(value, decimals)
    return text if text.startswith(_MINUS) or not text.strip("0.,") else f"+{text}"
