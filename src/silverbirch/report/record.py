"""Shows the record of a run as tables; a record holds any values of JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..checks import bytes_text
from . import numbers
from .markup import Html, joined, tag

_MOST_ITEMS = 100
_DEEPEST = 3


def record_tables(record: dict[str, Any]) -> Html:
    """A table of the plain values, then a table with a heading for each nested value."""
    plain = {key: value for key, value in record.items() if not _has_parts(value)}
    parts = {key: value for key, value in record.items() if _has_parts(value)}
    return joined(
        _shown(plain, "", 0) if plain else None,
        *(
            tag(
                "section", tag("h3", _heading(key)), _shown(value, key, 0), class_=None if _is_narrow(value) else "wide"
            )
            for key, value in parts.items()
        ),
    )


def _has_parts(value: Any) -> bool:
    return bool(value) and (isinstance(value, dict) or (isinstance(value, list | tuple) and _is_table(value)))


def _is_narrow(value: Any) -> bool:
    return isinstance(value, dict) and not any(isinstance(part, dict) or _has_parts(part) for part in value.values())


def _is_table(items: Sequence[Any]) -> bool:
    return bool(items) and all(isinstance(item, dict) and item for item in items)


def _shown(value: Any, key: str, depth: int) -> Html:
    if isinstance(value, dict | list | tuple) and depth > _DEEPEST:
        return tag("code", json.dumps(value, ensure_ascii=False, default=str))
    if isinstance(value, dict):
        return _pairs(value, depth) if value else tag("span", "none", class_="quiet")
    if isinstance(value, list | tuple):
        return _items(list(value), key, depth)
    return _scalar(value, key)


def _pairs(values: dict[str, Any], depth: int) -> Html:
    rows = (
        tag("tr", tag("th", _heading(key), scope="row"), tag("td", _shown(value, str(key), depth + 1)))
        for key, value in values.items()
    )
    return tag("table", tag("tbody", *rows), class_="pairs")


def _items(items: list[Any], key: str, depth: int) -> Html:
    shown, more = items[:_MOST_ITEMS], len(items) - _MOST_ITEMS
    rest = tag("p", f"and {more:,} more", class_="quiet") if more > 0 else None
    if not items:
        return tag("span", "none", class_="quiet")
    if not _is_table(items):
        if any(isinstance(item, dict | list | tuple) for item in shown):
            return joined(tag("ul", *(tag("li", _shown(item, key, depth + 1)) for item in shown)), rest)
        return joined(joined(*(_scalar(item, key) for item in shown), by=", "), rest)
    names = list(dict.fromkeys(name for item in shown for name in item))
    head = tag("tr", *(tag("th", _heading(name), scope="col") for name in names))
    rows = (
        tag("tr", *(tag("td", _shown(item[name], str(name), depth + 1) if name in item else None) for name in names))
        for item in shown
    )
    return joined(tag("table", tag("thead", head), tag("tbody", *rows)), rest)


def _scalar(value: Any, key: str) -> Html:
    if value is None:
        return tag("span", "–", class_="quiet")
    if isinstance(value, bool):
        return tag("span", "yes" if value else "no")
    if isinstance(value, int | float):
        return tag("span", _number(value, key), class_="figure")
    return tag("span", str(value))


def _number(value: float, key: str) -> str:
    if key.endswith("bytes") and 0 <= value < 1e18:
        return bytes_text(value)
    return numbers.whole(value) if isinstance(value, int) else numbers.trimmed(value)


def _heading(key: Any) -> str:
    name = str(key).replace("_", " ")
    return "size" if name == "bytes" else name.removesuffix(" bytes")
