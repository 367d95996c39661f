"""Writes the label of each row, with or without ids, chunk by chunk, as Parquet, Arrow, CSV, TSV or .npy."""

from __future__ import annotations

import contextlib
import gzip
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from ..storage.atomic import AnyPath, check_free, new_file

Labels = NDArray[np.int64]

LEFT_OUT = -2  # the label of a row that was left out; files that have nulls hold a null instead. Noise is -1.
_LABEL = "label"
# Chunks are collected into row groups of this size: many small groups make a file large and slow to read.
_GROUP_ROWS = 131_072
_TO_BE_QUOTED = re.compile(r'[",\t\r\n]')


class LabelWriter(Protocol):
    def write(self, labels: Labels, ids: Any = None) -> None:
        """Writes the labels of the next rows, and their ids as a pyarrow array if the file has an id column."""


class _Format(LabelWriter, Protocol):
    def finish(self) -> None:
        """Called once after the last rows."""


def label_writer(
    path: AnyPath, *, id_name: str | None = None, force: bool = False
) -> AbstractContextManager[LabelWriter]:
    """Opens a label file; the suffix decides the format. See `LabelWriter`.

    id_name : the name of the id column, which precedes the column `label`; None without ids
    force : overwrite an existing file

    The call checks path and names, before the context is entered. The file appears under its name only when the context
    ends without an error. Rows with the label LEFT_OUT get a null, an empty field in text;
    .npy has no nulls and keeps it.
    """
    begin = check_labels(path, id_name)
    check_free(path, force)
    return _opened(begin, path, id_name, force)


@contextlib.contextmanager
def _opened(
    begin: Callable[[BinaryIO, str | None], _Format], path: AnyPath, id_name: str | None, force: bool
) -> Iterator[LabelWriter]:
    with new_file(path, force=force) as file:
        writer = begin(file, id_name)
        try:
            yield writer
        except BaseException:
            with contextlib.suppress(Exception):  # closes the writer; the first error is the one to raise
                writer.finish()
            raise
        writer.finish()


def check_labels(path: AnyPath, id_name: str | None) -> Callable[[BinaryIO, str | None], _Format]:
    """The format for the suffix; raises ValueError if it is not known, or cannot hold ids."""
    name = Path(path).name.lower()
    suffix = next((suffix for suffix in _FORMATS if name.endswith(suffix)), None)
    if suffix is None:
        raise ValueError(f"cannot write labels to {path}: the name must end in {', '.join(_FORMATS)}")
    if id_name is not None and suffix == ".npy":
        raise ValueError(
            f"cannot write ids to {path}: .npy holds labels only; name a .parquet or .csv file, "
            "or leave the ids out (cut --no-ids)"
        )
    if id_name == _LABEL:
        raise ValueError(f"the id column is called {_LABEL!r}, as the labels are: rename it in the input")
    if suffix in _NEED_PYARROW:
        _pyarrow(suffix)
    return _FORMATS[suffix]


def _checked(labels: Any, ids: Any, id_name: str | None) -> Labels:
    labels = np.asarray(labels)
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise ValueError(f"labels are {labels.dtype} of shape {labels.shape}: one whole number for each row is needed")
    if (ids is None) != (id_name is None):
        raise ValueError("ids go with id_name: give both or neither")
    if ids is not None and len(ids) != len(labels):
        raise ValueError(f"{len(ids)} ids but {len(labels)} labels: one for each row is needed")
    checked: Labels = labels.astype(np.int64, copy=False)
    return checked


class _Npy:
    """One array of int64. `finish` writes its length into the header, which numpy pads so that there is room."""

    def __init__(self, file: BinaryIO, id_name: str | None) -> None:
        self._file = file
        self._count = 0
        self._write_header()

    def write(self, labels: Labels, ids: Any = None) -> None:
        labels = _checked(labels, ids, None)
        self._file.write(labels.astype("<i8", copy=False).tobytes())
        self._count += len(labels)

    def finish(self) -> None:
        self._file.seek(0)
        self._write_header()

    def _write_header(self) -> None:
        header = {"descr": "<i8", "fortran_order": False, "shape": (self._count,)}
        np.lib.format.write_array_header_1_0(self._file, header)


class _Text:
    """Lines of text. Fields are quoted if necessary: a missing id is an empty field, an empty id is quoted."""

    def __init__(self, file: BinaryIO, id_name: str | None, delimiter: str, compression: str) -> None:
        self._file = _compressed(file, compression)
        self._id_name = id_name
        self._delimiter = delimiter
        header = [_LABEL] if id_name is None else [_quoted(id_name), _LABEL]
        self._file.write((delimiter.join(header) + "\n").encode())

    def write(self, labels: Labels, ids: Any = None) -> None:
        left_out = '""' if ids is None else ""  # programs that read CSV skip empty lines
        checked = _checked(labels, ids, self._id_name).tolist()
        numbers = (left_out if label == LEFT_OUT else str(label) for label in checked)
        if ids is None:
            lines = (f"{number}\n" for number in numbers)
        else:
            texts = map(_quoted, self._texts(_plain(ids)))
            lines = (f"{text}{self._delimiter}{number}\n" for text, number in zip(texts, numbers, strict=True))
        self._file.write("".join(lines).encode())

    def _texts(self, ids: Any) -> Any:
        try:
            return ids.cast("string").to_pylist()
        except (ValueError, NotImplementedError):
            raise ValueError(
                f"the id column {self._id_name!r} holds {ids.type}, which has no text: name a .parquet file"
            ) from None

    def finish(self) -> None:
        self._file.close()


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

    def __init__(self, file: BinaryIO, id_name: str | None, suffix: str) -> None:
        self._file = file
        self._id_name = id_name
        self._suffix = suffix
        self._pyarrow = _pyarrow(suffix)
        self._schema: Any = None
        self._writer: Any = None
        self._pending: list[Any] = []

    def write(self, labels: Labels, ids: Any = None) -> None:
        labels = _checked(labels, ids, self._id_name)
        ids = None if ids is None else _plain(ids)
        if self._writer is None:
            self._begin(None if ids is None else ids.type)
        # pyarrow.array would import pandas if it is installed: 50 MB.
        numbers = self._pyarrow.py_buffer(np.ascontiguousarray(labels))
        valid = self._pyarrow.py_buffer(np.packbits(labels != LEFT_OUT, bitorder="little"))
        columns = [self._pyarrow.Array.from_buffers(self._pyarrow.int64(), len(labels), [valid, numbers])]
        if ids is not None:
            columns.insert(0, self._as_before(ids))
        self._pending.append(self._pyarrow.record_batch(columns, schema=self._schema))
        if sum(batch.num_rows for batch in self._pending) >= _GROUP_ROWS:
            self._flush()

    def _begin(self, id_type: Any) -> None:
        fields = [(_LABEL, self._pyarrow.int64())]
        if self._id_name is not None:
            fields.insert(0, (self._id_name, id_type or self._pyarrow.null()))
        self._schema = self._pyarrow.schema(fields)
        if self._suffix == ".parquet":
            from pyarrow import parquet

            self._writer = parquet.ParquetWriter(self._file, self._schema)
        else:
            from pyarrow import ipc

            self._writer = ipc.new_file(self._file, self._schema)

    def _as_before(self, ids: Any) -> Any:
        """The ids in the type of the first chunk. Text is never converted: 007 is not 7."""
        wanted, found = self._schema.types[0], ids.type
        if found == wanted:
            return ids
        with contextlib.suppress(self._pyarrow.ArrowInvalid, self._pyarrow.ArrowNotImplementedError):
            if not self._is_text(found) or self._is_text(wanted):
                return ids.cast(wanted)
        raise ValueError(f"the id column {self._id_name!r} begins as {wanted} and continues as {found}: use one type")

    def _is_text(self, arrow_type: Any) -> bool:
        types = self._pyarrow.types
        return bool(types.is_string(arrow_type) or types.is_large_string(arrow_type))

    def _flush(self) -> None:
        table = self._pyarrow.Table.from_batches(self._pending, schema=self._schema).combine_chunks()
        self._writer.write_table(table)
        self._pending = []

    def finish(self) -> None:
        if self._writer is None:
            self._begin(None)
        try:
            if self._pending:
                self._flush()
        finally:
            self._writer.close()


def _plain(ids: Any) -> Any:
    """The ids as one plain array: a dictionary encoding may differ from chunk to chunk."""
    ids = ids.combine_chunks() if hasattr(ids, "combine_chunks") else ids
    return ids.dictionary_decode() if hasattr(ids, "dictionary_decode") else ids


def _pyarrow(suffix: str) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise ImportError(f"writing {suffix} files needs pyarrow: pip install 'silverbirch[files]'") from None
    return pyarrow


_FORMATS: dict[str, Callable[[BinaryIO, str | None], _Format]] = {
    ".parquet": partial(_Arrow, suffix=".parquet"),
    ".arrow": partial(_Arrow, suffix=".arrow"),
    ".feather": partial(_Arrow, suffix=".feather"),
    ".csv": partial(_Text, delimiter=",", compression=""),
    ".csv.gz": partial(_Text, delimiter=",", compression="gzip"),
    ".csv.zst": partial(_Text, delimiter=",", compression="zstd"),
    ".tsv": partial(_Text, delimiter="\t", compression=""),
    ".tsv.gz": partial(_Text, delimiter="\t", compression="gzip"),
    ".tsv.zst": partial(_Text, delimiter="\t", compression="zstd"),
    ".npy": _Npy,
}
_NEED_PYARROW = {".parquet", ".arrow", ".feather", ".csv.zst", ".tsv.zst"}
