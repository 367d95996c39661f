"""CSV and TSV files, plain or compressed, read by Arrow."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...wording import parameter
from ..columns import Wanted, arrow_fields, without_first
from ..table import FileTable, needed, reading

if TYPE_CHECKING:
    import pyarrow as pa

# Arrow always reads up to 32 blocks ahead, so blocks are small. The first block decides the types of the columns.
_BLOCK, _FIRST_BLOCK, _LONGEST_BLOCK = 1 << 18, 1 << 20, 1 << 28
_LINES = 16  # a block has room for this many lines as long as the first: each column of each block takes time
_CODECS = {".gz": "gzip", ".zst": "zstd"}


class CsvTable(FileTable):
    """A CSV or TSV file. The first block decides which columns are numbers.

    All numbers are read as float64, because a column that begins with whole numbers may continue with fractions. Ids
    and other kept columns are read as text.
    """

    suffixes = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst")
    keeps_text = True

    def __init__(self, path: Path) -> None:
        self._tabs = ".tsv" in "".join(path.suffixes[-2:]).lower()
        self._codec = _CODECS.get(path.suffix.lower())
        self._block = _BLOCK
        self.fields = ()
        super().__init__(path)

    def _file(self) -> tuple[Any, Any]:
        """The text, and the file whose position is the number of bytes read.

        Neither is closed here: a thread of Arrow may still read ahead. With the file closed, its descriptor could
        belong to the next file, and the thread would take a block from that. The last reference closes the file.
        """
        pa = needed("pyarrow")
        file = pa.OSFile(str(self.path))
        return (file if self._codec is None else pa.CompressedInputStream(file, self._codec)), file

    def _reader(self, text: Any, block: int, types: dict[str, Any] | None = None) -> Any:
        csv = needed("pyarrow.csv")
        return csv.open_csv(
            text,
            read_options=csv.ReadOptions(use_threads=False, block_size=block),
            parse_options=csv.ParseOptions(
                delimiter="\t" if self._tabs else ",",
                newlines_in_values=True,
                ignore_empty_lines=len(self.fields) != 1,  # with one column, an empty line is a missing value
            ),
            convert_options=csv.ConvertOptions(column_types=types, include_columns=list(types or ())),
        )

    def _open(self) -> None:
        while True:
            try:
                schema = self._reader(self._file()[0], max(self._block, _FIRST_BLOCK)).schema
                break
            except ValueError as error:
                self._grow_block(error)
        self.fields = arrow_fields(schema)
        names = [field.name for field in self.fields]
        self._check_header(names)
        self._block = max(self._block, _LINES * sum(map(len, names)))
        self._not_floats = {field.name: kind for field in schema if (kind := _exact(field.type)) is not None}

    def _check_header(self, names: list[str]) -> None:
        """Raises ValueError if the first line holds numbers: a row would be lost. pandas writes 0, 1, 2, … as names."""
        if all(map(_is_number, names)) and names != [str(i) for i in range(len(names))]:
            raise ValueError(
                f"{self.path} begins with numbers where the names of the columns should be "
                f"({', '.join(names[:3])}{', …' if len(names) > 3 else ''}): add a first line with names"
            )

    def _grow_block(self, error: ValueError) -> None:
        """Enlarges the block if a line is longer than it; raises any other error again."""
        if "straddling" not in str(error) or self._block >= _LONGEST_BLOCK:
            raise error
        self._block *= 4

    def batches(self, wanted: Wanted, begin: int, chunk_rows: int) -> Iterator[pa.RecordBatch]:
        while True:
            try:
                for batch in self._batches_from(begin, self._types(wanted)):
                    begin += batch.num_rows
                    yield batch
                return
            except ValueError as error:
                self._grow_block(error)

    def _batches_from(self, begin: int, types: dict[str, Any]) -> Iterator[pa.RecordBatch]:
        with self._saying_which_column(), reading(self.label):
            text, file = self._file()
            block = self._block
            reader = self._reader(text, block, types)
            # A batch is a block of text. In a compressed file only the position is known; Arrow reads ahead of it.
            read = self._noting_bytes(reader, lambda n: min(n * block, self.n_bytes) if text is file else file.tell())
            yield from without_first(read, begin)

    def _types(self, wanted: Wanted) -> dict[str, Any]:
        pa = needed("pyarrow")
        types = {name: self._not_floats.get(name, pa.float64()) for name in wanted.names}
        weights = {} if wanted.weight_column is None else {wanted.weight_column: pa.float64()}
        return dict.fromkeys(wanted.kept, pa.string()) | weights | types

    @contextlib.contextmanager
    def _saying_which_column(self) -> Iterator[None]:
        try:
            yield
        except ValueError as error:
            found = re.search(r"column #(\d+): (?:Row #(\d+): )?.*invalid value '(.*)'", str(error), re.DOTALL)
            if found is None:
                raise
            column, line, value = self.fields[int(found[1])].name, found[2], found[3]
            raise ValueError(
                f"{self.path}{f', line {line}' if line else ''}: column {column!r} holds {value!r} where numbers came "
                f"before: correct it, or choose other columns by {parameter('read_chunks().columns', ...)}"
            ) from None


def _exact(kind: pa.DataType) -> pa.DataType | None:
    """The type that truth values, dates and times are read as; None for others.

    A column that begins with dates or whole seconds may continue with fractions of a second.
    """
    pa = needed("pyarrow")
    unit = "ns" if getattr(kind, "unit", None) == "ns" else "us"
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return pa.timestamp(unit, getattr(kind, "tz", None))
    if pa.types.is_time(kind):
        return pa.time64(unit)
    return kind if pa.types.is_boolean(kind) else None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
