"""Checks of arguments. Each error message gives the value, the rule and the remedy."""

import math
import operator
import os
import reprlib
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core
from .machine import usable_cores
from .wording import parameter

Rows = NDArray[np.float64] | NDArray[np.float32]
Floats = NDArray[np.float64]


class Linkage(NamedTuple):
    """A row of the core's table of linkages; `_core.pyi` says what the columns mean.

    It holds plain values, because an object of the core that lives until Python ends is reported as a leak.
    """

    name: str
    reducible: bool
    squared: bool
    cf_distance: str | None
    equal_vote: bool
    scale: float
    by_members: bool
    prototypes: bool


# The names that the core defines, in its order.
CF_DISTANCES = tuple(_core.cf_distance_names())
ABSORPTIONS = tuple(_core.absorption_names())
LINKAGES = {row.name: Linkage(*(getattr(row, column) for column in Linkage._fields)) for row in _core.linkages()}
ALGORITHMS = tuple(_core.algorithm_names())
MODES = ("centers", "linkage", "aggregation")

_MOST_THREADS = 256
_CPU = (1, 3)  # the device types of DLPack for main memory: kDLCPU, kDLCUDAHost
_UNITS = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}


def as_rows(X: Any, *, name: str = "X", dtype: np.dtype[Any] | None = None) -> Rows:
    """X as a contiguous float32 or float64 array (n, d) with n, d ≥ 1 and finite values; copies only if necessary."""
    rows = as_any_rows(X, name=name, dtype=dtype)
    bad = _core.check_coordinates(rows)
    if bad is not None:
        row, column, value = bad
        raise refused_value(f"{name}: row {row}, column {column}", value)
    return rows


def refused_value(place: str, value: float) -> ValueError:
    """The error for a value that cannot be clustered."""
    if math.isfinite(value):
        why = f"values beyond {_core.LARGEST_COORDINATE:g} would overflow; rescale the data first"
    else:
        why = "every value must be a finite number; drop or fill such rows first"
    return ValueError(f"{place} is {value:g}: {why}")


def as_any_rows(X: Any, *, name: str = "X", dtype: np.dtype[Any] | None = None) -> Rows:
    """Like `as_rows`, without the check that all values are finite."""
    if np.ma.is_masked(X):
        raise ValueError(f"{name} has masked values: drop or fill missing values first")
    array = as_array(X, name)
    if array.dtype.kind not in "fiub":
        array = _numbers_from(array, name, getattr(X, "columns", None))
    require_table(array.shape, name)
    if dtype is None:
        dtype = np.dtype(np.float32 if array.dtype in (np.float32, np.float16) else np.float64)
    with np.errstate(over="ignore"):  # values that overflow float32 become infinite, which is refused later
        rows: Rows = np.ascontiguousarray(array, dtype=dtype)
    return rows


def require_table(shape: tuple[int, ...], name: str) -> None:
    """Raises an error unless the shape is that of rows and columns."""
    if len(shape) != 2:
        hint = "reshape(-1, 1) for one column, reshape(1, -1) for one row" if len(shape) == 1 else "(rows, columns)"
        raise ValueError(f"{name} is {len(shape)}-D: rows need a 2-D array; use {hint}")
    if 0 in shape:
        raise ValueError(f"{name} has shape {shape}: at least one row and one column are needed")


def as_array(X: Any, name: str) -> NDArray[Any]:
    if is_sparse(X):
        raise refused_sparse(X, name)
    try:
        array = np.asarray(as_numpy(X, name))
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"{name} is not a table of numbers: {error}") from None
    if array.ndim == 0:
        raise TypeError(f"{name} is a {type(X).__name__}: rows need a 2-D array")
    return array


def as_numpy(X: Any, name: str) -> Any:
    """An array or tensor of another library as a NumPy array, copied only if necessary; anything else as it is.

    An array of lists or arrays, as pandas keeps them in a column, becomes 2-D. NumPy has no bfloat16 and no float8:
    such numbers become float32, which holds all of them.
    """
    if not isinstance(X, np.ndarray) and (hasattr(X, "__array__") or hasattr(X, "__dlpack__")):
        X = _from_library(X, name)
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1 and len(X):
        X = np.stack(list(X)) if isinstance(X[0], list | tuple | np.ndarray) else X
    narrow = isinstance(X, np.ndarray) and X.dtype.kind == "V" and X.dtype.name.startswith(("bfloat", "float"))
    return X.astype(np.float32) if narrow else X


def _from_library(X: Any, name: str) -> NDArray[Any]:
    original = X
    if hasattr(X, "detach"):  # torch converts no tensors that have gradients, and none of bfloat16 or float8
        X = X.detach()
        X = X.float() if any(name in str(X.dtype) for name in ("bfloat16", "float8")) else X
    try:
        array: NDArray[Any] = np.asarray(X) if hasattr(X, "__array__") else np.from_dlpack(X)
    except (TypeError, RuntimeError, BufferError):
        if hasattr(X, "__dlpack_device__") and X.__dlpack_device__()[0] not in _CPU:
            raise TypeError(
                f"{name} is a {type(original).__name__} on {getattr(original, 'device', 'a GPU')}: rows are read from "
                f"main memory; pass {name}.cpu() (torch) or {name}.get() (CuPy)"
            ) from None
        raise
    return array


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array of scipy; does not import scipy."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def refused_sparse(X: Any, name: str) -> TypeError:
    """The error for sparse rows where dense rows are needed."""
    rows, columns = X.shape
    return TypeError(
        f"{name} is a sparse matrix of {rows:,} × {columns:,}: cluster features are dense, and as dense rows it takes "
        f"{bytes_text(8 * rows * columns)}. Use Betula(projection=256), or reduce the columns by TruncatedSVD or "
        f"SparseRandomProjection of scikit-learn; pass {name}.toarray() if it is small"
    )


def refused_texts(name: str, text: str, *, paths: bool = True) -> TypeError:
    """The error for texts in place of rows of numbers; `paths` says whether paths of files were possible too."""
    no_file, projected = (", and no file of that name exists", " with Betula(projection=256)") if paths else ("", "")
    return TypeError(
        f"{name} holds texts ({reprlib.repr(str(text))}){no_file}: turn texts into rows of numbers first, by "
        "SentenceTransformer(…).encode(texts) of sentence-transformers, or by "
        f"TfidfVectorizer().fit_transform(texts) of scikit-learn{projected}"
    )


def _numbers_from(array: NDArray[Any], name: str, columns: Any) -> Floats:
    """Converts an array of Python objects to float64; raises an error if they are not numbers."""
    if array.dtype.kind == "O":
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            names = _bad_columns(array, columns)
            raise ValueError(
                f"{name} holds values that are missing or not numbers{names}: encode, fill or drop them first"
            ) from None
    what = {"U": "strings", "S": "bytes", "c": "complex numbers", "M": "dates", "m": "time spans"}
    kind = what.get(array.dtype.kind, str(array.dtype))
    raise TypeError(f"{name} holds {kind}: only real numbers can be clustered; encode or drop those columns first")


def _bad_columns(array: NDArray[Any], columns: Any) -> str:
    """The names of the columns that cannot be converted to numbers, as the end of an error message."""
    if columns is None or array.ndim != 2:
        return ""
    bad = []
    for column, values in zip(columns, array.T, strict=True):
        try:
            values.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            bad.append(repr(column))
    return f" in {', '.join(bad[:5])}" + (f" and {len(bad) - 5} more columns" if len(bad) > 5 else "")


def as_weights(values: Any, count: int, name: str) -> Floats:
    """A weight for each of `count` rows, checked; a single weight applies to all rows."""
    return _checked_weights(_one_for_each(values, count, name), lambda row: f"{name}[{row}] =")


def as_weight_column(values: NDArray[Any], name: str, place: Callable[[int], str]) -> Floats:
    """The weights in a column, checked. `place` says in words where a row is."""
    weights = np.ascontiguousarray(values, dtype=np.float64)
    return _checked_weights(weights, lambda row: f"{place(row)}, weight column {name!r} is")


def _checked_weights(weights: Floats, place: Callable[[int], str]) -> Floats:
    least, most = _core.SMALLEST_WEIGHT, _core.LARGEST_WEIGHT
    bad = np.flatnonzero(~((weights == 0) | ((weights >= least) & (weights <= most))))
    if bad.size:
        raise ValueError(
            f"{place(int(bad[0]))} {weights[bad[0]]}: must be finite and not negative, 0 or between {least:g} and "
            f"{most:g}; correct or rescale the weights"
        )
    return weights


def as_sses(values: Any, weight: Floats) -> Floats:
    """A sum of squares for each weight, checked; a single number applies to all."""
    array = _one_for_each(values, len(weight), "sse")
    bad = np.flatnonzero(
        ~((array >= 0) & (array <= _core.LARGEST_VARIANCE * np.maximum(weight, _core.SMALLEST_WEIGHT)))
    )
    if bad.size:
        raise ValueError(
            f"sse[{bad[0]}] = {array[bad[0]]}: must be finite, not negative and at most {_core.LARGEST_VARIANCE:g} "
            "times the weight; correct or rescale the features"
        )
    return array


def _one_for_each(values: Any, count: int, name: str) -> Floats:
    array = np.asarray(values)
    try:
        if array.dtype.kind not in "fiubO":
            raise TypeError
        numbers: Floats = np.asarray(array, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} holds values that are not numbers: pass one number for each row") from None
    if numbers.ndim == 0:
        numbers = np.full(count, float(numbers))
    if numbers.shape != (count,):
        raise ValueError(f"{name} has shape {numbers.shape} but there are {count} rows: one for each row is needed")
    return numbers


def as_count(value: Any, name: str, *, least: int = 1, most: int | None = None) -> int:
    """A whole number of at least `least`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{parameter(name, value)}: a whole number is needed") from None
    if isinstance(value, bool | np.bool_) or number < least:
        raise ValueError(f"{parameter(name, value)}: must be at least {least}")
    if most is not None and number > most:
        raise ValueError(f"{parameter(name, value)}: must be at most {most}")
    return number


def as_flag(value: Any, name: str) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{parameter(name, value)}: must be True or False")
    return bool(value)


def as_threshold(value: Any, name: str = "threshold") -> float:
    """A finite number ≥ 0."""
    try:
        number = float(value)
        if isinstance(value, str | bytes):
            raise TypeError
    except (TypeError, ValueError):
        raise TypeError(f"{parameter(name, value)}: a number is needed") from None
    except OverflowError:
        number = math.inf
    if not 0 <= number <= _core.LARGEST_COORDINATE:
        raise ValueError(f"{parameter(name, value)}: must be between 0 and {_core.LARGEST_COORDINATE:g}")
    return number


def as_choice(value: Any, name: str, choices: Collection[str]) -> str:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{parameter(name, value)}: must be one of {', '.join(map(repr, choices))}")
    return value


def as_method(method: Any, mode: str, name: str) -> str:
    """The name of a linkage, or with mode="aggregation" of a CF distance, checked."""
    choices = CF_DISTANCES if mode == "aggregation" else tuple(LINKAGES)
    if isinstance(method, str) and method not in choices and method in (*CF_DISTANCES, *LINKAGES):
        other = parameter("mode", "linkage" if mode == "aggregation" else "aggregation")
        raise ValueError(
            f"{parameter(name, method)} needs {other}; with {parameter('mode', mode)} it is one of {', '.join(choices)}"
        )
    return as_choice(method, name, choices)


def as_bytes(value: Any, name: str = "max_memory") -> int:
    """A number of bytes from a number or from a string like '256MB' or '2 GiB'."""
    if isinstance(value, str):
        digits = value.strip().rstrip("BKMGTibkmgt").strip()
        unit = value.strip()[len(digits) :].strip().upper().removesuffix("B")
        try:
            number = float(digits) * _UNITS[unit]
        except (KeyError, ValueError):
            raise ValueError(f"{parameter(name, value)}: write bytes as a number or like '256MB' or '2GiB'") from None
    else:
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise TypeError(f"{parameter(name, value)}: write bytes as a number or like '256MB' or '2GiB'") from None
        except OverflowError:
            number = math.inf
    if not (math.isfinite(number) and number >= 1):
        raise ValueError(f"{parameter(name, value)}: must be a finite number of at least one byte")
    return int(number)


def as_threads(n_jobs: Any) -> int:
    """The number of threads: None is one, -1 is one for each core that this process may use, -2 is one less."""
    if n_jobs is None:
        return 1
    try:
        number = operator.index(n_jobs)
    except TypeError:
        raise TypeError(f"{parameter('n_jobs', n_jobs)}: a whole number or None is needed") from None
    if number == 0 or number < -(os.cpu_count() or 1):
        raise ValueError(f"{parameter('n_jobs', n_jobs)}: must be a number of threads, or -1 for all {usable_cores()}")
    return min(number if number > 0 else max(usable_cores() + 1 + number, 1), _MOST_THREADS)


def bytes_text(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if count < 999.5 or unit == "TB":  # 999.5 and more would be written as 1e+03
            break
        count /= 1000
    return f"{count:.0f} {unit}" if unit == "B" else f"{count:.3g} {unit}"
