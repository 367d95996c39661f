"""The formats of label files: Parquet, Arrow, CSV, TSV and .npy, written chunk by chunk.

The kept columns come first, the column `label` comes last. Rows with the label LEFT_OUT get a null, an empty field in
text; .npy has no nulls and keeps it.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from ...remote import place

Labels = NDArray[np.int64]
Names = Sequence[str]

LEFT_OUT = -2  # the label of a row that was left out; files that have nulls hold a null instead. Noise is -1.
_LABEL = "label"
# Chunks are collected into row groups of this size: many small groups make a file large and slow to read.
_GROUP_ROWS = 131_072
_TO_BE_QUOTED = re.compile(r'[",\t\r\n]')


class LabelFormat(Protocol):
    """A file that is being written."""

    def write(self, labels: Labels, kept: Any = None) -> None:
        """Writes the labels of the next rows, and their kept columns: a record batch of pyarrow, or None."""

    def finish(self) -> None:
        """Called once after the last rows."""


def format_of(suffix: str, names: Names) -> Callable[[BinaryIO], LabelFormat]:
    """The format for a suffix; raises ValueError if it cannot hold the kept columns of these names."""
    if names and suffix == ".npy":
        raise ValueError(
            f"cannot write {_listed(names)} beside the labels: .npy holds labels only; write .parquet or .csv, or "
            "leave the columns out (cut --no-ids leaves out the ids)"
        )
    if _LABEL in names:
        raise ValueError(f"a column beside the labels is called {_LABEL!r}, as they are: rename it, or leave it out")
    if (twice := next((name for name in names if list(names).count(name) > 1), None)) is not None:
        raise ValueError(f"column {twice!r} would be written twice: name each column once")
    if suffix in _NEED_PYARROW:
        _pyarrow(suffix)
    return partial(_FORMATS[suffix], names=tuple(names))


def check_types(suffix: str, kept: Any) -> None:
    """Raises ValueError if a format cannot hold columns of these types: a record batch of any number of rows."""
    if suffix.startswith((".csv", ".tsv")):
        for name, column in zip(kept.schema.names, kept.slice(0, 0), strict=True):
            _texts(name, column)


def suffix_of(path: str | os.PathLike[str]) -> str | None:
    """The suffix that decides the format of a label file; None if it is not known."""
    name = place(path).name.lower()
    return next((suffix for suffix in SUFFIXES if name.endswith(suffix)), None)


def _listed(names: Names) -> str:
    return ", ".join(map(repr, names)) or "none"


def _checked(labels: Any, kept: Any, names: Names) -> Labels:
    labels = np.asarray(labels)
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise ValueError(f"labels are {labels.dtype} of shape {labels.shape}: one whole number for each row is needed")
    found = () if kept is None else tuple(kept.schema.names)
    if found != tuple(names):
        raise ValueError(f"the columns beside the labels are {_listed(found)}, not {_listed(names)}: give the same")
    if kept is not None and len(kept) != len(labels):
        raise ValueError(f"{len(kept)} rows beside {len(labels)} labels: one for each is needed")
    checked: Labels = labels.astype(np.int64, copy=False)
    return checked


class _Npy:
    """One array of int64. `finish` writes its length into the header, which numpy pads so that there is room."""

    def __init__(self, file: BinaryIO, names: Names) -> None:
        self._file = file
        self._count = 0
        self._write_header()

    def write(self, labels: Labels, kept: Any = None) -> None:
        labels = _checked(labels, kept, ())
        self._file.write(labels.astype("<i8", copy=False).tobytes())
        self._count += len(labels)

    def finish(self) -> None:
        self._file.seek(0)
        self._write_header()

    def _write_header(self) -> None:
        header = {"descr": "<i8", "fortran_order": False, "shape": (self._count,)}
        np.lib.format.write_array_header_1_0(self._file, header)


class _Text:
    """Lines of text. Fields are quoted if necessary: a missing text is an empty field, an empty text is quoted."""

    def __init__(self, file: BinaryIO, names: Names, delimiter: str, compression: str = "") -> None:
        self._file = _compressed(file, compression)
        self._names = names
        self._delimiter = delimiter
        self._write_lines([delimiter.join([*map(_quoted, names), _LABEL])])

    def write(self, labels: Labels, kept: Any = None) -> None:
        left_out = '""' if kept is None else ""  # programs that read CSV skip empty lines
        checked = _checked(labels, kept, self._names).tolist()
        numbers = [left_out if label == LEFT_OUT else str(label) for label in checked]
        columns = [] if kept is None else [map(_quoted, _texts(*both)) for both in zip(self._names, kept, strict=True)]
        self._write_lines(map(self._delimiter.join, zip(*columns, numbers, strict=True)))

    def _write_lines(self, lines: Any) -> None:
        self._file.write("".join(f"{line}\n" for line in lines).encode())

    def finish(self) -> None:
        self._file.close()


def _texts(name: str, column: Any) -> Any:
    try:
        return column.cast("string").to_pylist()
    except (ValueError, NotImplementedError):
        raise ValueError(f"column {name!r} holds {column.type}, which has no text: write labels as .parquet") from None


def _quoted(text: str | None) -> str:
    if text is None:
        return ""
    return '"' + text.replace('"', '""') + '"' if not text or _TO_BE_QUOTED.search(text) else text


def _compressed(file: BinaryIO, compression: str) -> Any:
    if compression == "gzip":  # without name and time, so that the same labels give the same bytes
        return gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=6)
    if compression == "zstd":
        pyarrow = _pyarrow(".zst")
        return pyarrow.CompressedOutputStream(pyarrow.PythonFile(file, "w"), "zstd")
    return file


class _Arrow:
    """A Parquet file, or an Arrow IPC file, which is also called Feather."""

    def __init__(self, file: BinaryIO, names: Names, suffix: str) -> None:
        self._file = file
        self._names = names
        self._suffix = suffix
        self._pyarrow = _pyarrow(suffix)
        self._schema: Any = None
        self._writer: Any = None
        self._pending: list[Any] = []

    def write(self, labels: Labels, kept: Any = None) -> None:
        labels = _checked(labels, kept, self._names)
        if self._writer is None:
            self._begin([] if kept is None else kept.schema.types)
        # pyarrow.array would import pandas if it is installed: 50 MB.
        numbers = self._pyarrow.py_buffer(np.ascontiguousarray(labels))
        valid = self._pyarrow.py_buffer(np.packbits(labels != LEFT_OUT, bitorder="little"))
        as_column = self._pyarrow.Array.from_buffers(self._pyarrow.int64(), len(labels), [valid, numbers])
        columns = [*map(self._as_before, () if kept is None else kept, self._schema), as_column]
        self._pending.append(self._pyarrow.record_batch(columns, schema=self._schema))
        if sum(batch.num_rows for batch in self._pending) >= _GROUP_ROWS:
            self._flush()

    def _begin(self, types: Sequence[Any]) -> None:
        fields = [*zip(self._names, types, strict=True), (_LABEL, self._pyarrow.int64())]
        self._schema = self._pyarrow.schema(fields)
        if self._suffix == ".parquet":
            from pyarrow import parquet

            self._writer = parquet.ParquetWriter(self._file, self._schema)
        else:
            from pyarrow import ipc

            self._writer = ipc.new_file(self._file, self._schema)

    def _as_before(self, column: Any, field: Any) -> Any:
        """The column in the type of the first chunk. Text is never converted: 007 is not 7."""
        wanted, found = field.type, column.type
        if found == wanted:
            return column
        with contextlib.suppress(self._pyarrow.ArrowInvalid, self._pyarrow.ArrowNotImplementedError):
            if not self._is_text(found) or self._is_text(wanted):
                return column.cast(wanted)
        raise ValueError(f"column {field.name!r} begins as {wanted} and continues as {found}: use one type")

    def _is_text(self, arrow_type: Any) -> bool:
        types = self._pyarrow.types
        return bool(types.is_string(arrow_type) or types.is_large_string(arrow_type))

    def _flush(self) -> None:
        table = self._pyarrow.Table.from_batches(self._pending, schema=self._schema).combine_chunks()
        self._writer.write_table(table)
        self._pending = []

    def finish(self) -> None:
        if self._writer is None:
            self._begin([self._pyarrow.null()] * len(self._names))
        try:
            if self._pending:
                self._flush()
        finally:
            self._writer.close()


def _pyarrow(suffix: str) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise ImportError(f"writing {suffix} files needs pyarrow: pip install 'silverbirch[files]'") from None
    return pyarrow


_FORMATS: dict[str, Callable[..., LabelFormat]] = {
    ".parquet": partial(_Arrow, suffix=".parquet"),
    ".arrow": partial(_Arrow, suffix=".arrow"),
    ".feather": partial(_Arrow, suffix=".feather"),
    ".csv": partial(_Text, delimiter=","),
    ".csv.gz": partial(_Text, delimiter=",", compression="gzip"),
    ".csv.zst": partial(_Text, delimiter=",", compression="zstd"),
    ".tsv": partial(_Text, delimiter="\t"),
    ".tsv.gz": partial(_Text, delimiter="\t", compression="gzip"),
    ".tsv.zst": partial(_Text, delimiter="\t", compression="zstd"),
    ".npy": _Npy,
}
SUFFIXES = tuple(_FORMATS)
_NEED_PYARROW = {".parquet", ".arrow", ".feather", ".csv.zst", ".tsv.zst"}
