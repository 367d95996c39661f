"""CSV and TSV files, plain or compressed, by Arrow's reader."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .columns import Wanted, arrow_fields, without_first
from .formats import FileTable
from .table import needed, reading

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK = 1 << 20
_LONGEST_BLOCK = 1 << 28
_CODECS = {".gz": "gzip", ".zst": "zstd"}


class CsvTable(FileTable):
    """The first block of the file tells which columns are numbers; those are then read as float64 throughout, because a
    column that begins with whole numbers may go on with fractions. Ids are read as text, as written."""

    def __init__(self, path: Path) -> None:
        self._tabs = ".tsv" in "".join(path.suffixes[-2:]).lower()
        self._codec = _CODECS.get(path.suffix.lower())
        self._block = _BLOCK
        super().__init__(path)

    @contextlib.contextmanager
    def _file(self) -> Iterator[tuple[Any, Any]]:
        """The text, and the file whose position tells how far it was read."""
        pa = needed("pyarrow")
        with pa.OSFile(str(self.path)) as file:
            if self._codec is None:
                yield file, file
            else:
                with pa.CompressedInputStream(file, self._codec) as text:
                    yield text, file

    def _reader(self, text: Any, types: dict[str, Any] | None) -> Any:
        csv = needed("pyarrow.csv")
        return csv.open_csv(
            text,
            read_options=csv.ReadOptions(use_threads=False, block_size=self._block),
            parse_options=csv.ParseOptions(delimiter="\t" if self._tabs else ",", newlines_in_values=True),
            convert_options=csv.ConvertOptions(column_types=types, include_columns=list(types or ())),
        )

    def _open(self) -> None:
        """Lines longer than a block cannot be read: the block grows until the first ones fit."""
        while True:
            try:
                with self._file() as (text, _):
                    schema = self._reader(text, None).schema
                break
            except ValueError as error:
                if "straddling" not in str(error) or self._block >= _LONGEST_BLOCK:
                    raise
                self._block *= 4
        self.fields = arrow_fields(schema)
        self._check_header([field.name for field in self.fields])
        boolean = needed("pyarrow").bool_()
        self._booleans = {field.name for field in schema if field.type == boolean}

    def _check_header(self, names: list[str]) -> None:
        """A first line of numbers is a row that would be lost; but 0, 1, 2, … are the names pandas gives columns."""
        if all(map(_is_number, names)) and names not in ([str(i + k) for i in range(len(names))] for k in (0, 1)):
            raise ValueError(
                f"{self.path} begins with numbers where the names of the columns should be "
                f"({', '.join(names[:3])}{', …' if len(names) > 3 else ''}): add a first line with names"
            )

    def batches(self, wanted: Wanted, begin: int, chunk_rows: int) -> Iterator[pa.RecordBatch]:
        with self._saying_which_column(), reading(self.label), self._file() as (text, file):
            reader = self._reader(text, self._types(wanted))
            yield from without_first(self._batches_with_tell(reader, file), begin)

    def _types(self, wanted: Wanted) -> dict[str, Any]:
        pa = needed("pyarrow")
        types = {name: pa.bool_() if name in self._booleans else pa.float64() for name in wanted.names}
        return types if wanted.id_column is None else {**types, wanted.id_column: pa.string()}

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
                "before: correct it, or choose other columns by columns= (--columns)"
            ) from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
