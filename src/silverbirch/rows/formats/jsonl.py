"""JSON lines: an object on each line, read by Arrow."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...wording import parameter
from ..columns import Field, Wanted, without_first
from ..source import ReadingBytes
from ..table import FileTable, needed, released
from .text import TextFile, with_compressions

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK, _FIRST_BLOCK, _LONGEST_BLOCK = 1 << 20, 1 << 20, 1 << 28
_READING_BYTES, _COLUMN_BYTES = 20 << 20, 8 << 10  # measured, for blocks of this size
_WHOLE, _NUMBER, _FLAG, _TEXT, _MOMENT = "whole number", "number", "boolean", "text", "timestamp"
_LIST, _OTHER_LIST, _OBJECT = "list of numbers", "list", "object"
_IS_MOMENT = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:?\d\d)?)?")


class JsonLinesTable(FileTable):
    """A file of JSON lines. The objects of the first block decide which columns there are, and of which kind.

    A key that an object does not have is a missing value there.
    """

    suffixes = with_compressions(".jsonl", ".ndjson")
    takes = ("encoding",)

    def _open(self) -> None:
        self._text = TextFile(self.file, self.parsing.encoding)
        kinds: dict[str, set[str]] = {}
        for number, line in enumerate(next(self._blocks(_FIRST_BLOCK), b"").splitlines()):
            for name, value in self._object(line, number).items():
                kinds.setdefault(name, set()).update(_kinds(value))
        if not kinds:
            raise ValueError(f"{self.label} has no rows: at least one is needed")
        self.fields = tuple(_field(name, found) for name, found in kinds.items())

    def _object(self, line: bytes, number: int) -> dict[str, Any]:
        if not line.strip():
            return {}
        with self._text.reading():
            text = line.decode()
        try:
            value = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"{self.label}, line {number + 1} is not JSON: {error.msg}; is it complete?") from None
        if not isinstance(value, dict):
            raise ValueError(
                f"{self.label}, line {number + 1} holds {line[:20].decode(errors='replace')!r} where an object of "
                'names and values is needed, such as {"x": 1.5}'
            )
        return value

    def _blocks(self, size: int) -> Iterator[bytes]:
        """The text in blocks of whole lines; a block is longer than `size` if a line is."""
        with self._text.reading():
            text, self._bytes_read = self._text.open()
            held = b""
            while piece := text.read(size):
                held += piece
                end = held.rfind(b"\n") + 1
                if len(held) - end > _LONGEST_BLOCK:
                    raise ValueError(f"{self.label} has a line of more than 256 MB: is it JSON with an object a line?")
                if end:
                    yield held[:end].removeprefix(b"\xef\xbb\xbf")
                    held = held[end:]
            if held.strip():
                yield held.removeprefix(b"\xef\xbb\xbf")

    def check(self, wanted: Wanted) -> None:
        kinds = {field.name: field.type for field in self.fields}
        for name in wanted.kept:
            if kinds[name] not in (_WHOLE, _NUMBER, _FLAG, _TEXT, _MOMENT, _LIST, "null"):
                raise ValueError(
                    f"{self.label}: column {name!r} ({kinds[name]}) cannot be kept: only columns of texts, of numbers "
                    "or of lists of numbers can"
                )

    def reading_bytes(self, wanted: Wanted, chunk_rows: int) -> ReadingBytes:
        taken = _READING_BYTES + _COLUMN_BYTES * len(self.fields)
        return ReadingBytes(taken, taken)

    def batches(self, wanted: Wanted, begin: int, chunk_rows: int) -> Iterator[pa.RecordBatch]:
        with released():
            read = self._noting_bytes(self._batches(wanted), lambda _: self._bytes_read())
            yield from without_first(read, begin)

    def _batches(self, wanted: Wanted) -> Iterator[pa.RecordBatch]:
        pa, reader = needed("pyarrow"), needed("pyarrow.json")
        of_name = {field.name: field for field in self.fields}
        counted = (*wanted.names, wanted.weight_column)
        # A column that begins with whole numbers may continue with fractions, unless it is only kept.
        kinds = {name: _type(of_name[name], only_kept=name not in counted) for name in wanted.all_names}
        schema = pa.schema(kinds)
        how = reader.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
        done = 0
        for block in self._blocks(_BLOCK):
            options = reader.ReadOptions(use_threads=False, block_size=len(block) + 1)
            try:
                table = reader.read_json(io.BytesIO(block), read_options=options, parse_options=how)
            except pa.ArrowInvalid as error:
                raise self._explained(str(error), done) from None
            done += table.num_rows
            yield from table.select(wanted.all_names).to_batches()

    def _explained(self, message: str, done: int) -> ValueError:
        found = re.search(r"JSON parse error: (.*?)\.? in row (\d+)", message)
        if found is None:
            return ValueError(f"{self.label} cannot be read: {message}")
        place = f"row {done + int(found[2])} of {self.label}"
        if changed := re.fullmatch(r"Column\(/(.*?)(?:/\[\])?\) changed from (.*)", found[1]):
            return ValueError(
                f"{place}: column {changed[1]!r} changes from {changed[2]}: correct it, or choose other columns by "
                f"{parameter('read_chunks().columns', ...)}"
            )
        return ValueError(f"{place} is not JSON: {found[1]}; is it complete?")


def _kinds(value: Any) -> set[str]:
    if value is None:
        return set()
    if isinstance(value, list):
        numbers = all(item is None or (isinstance(item, int | float) and not isinstance(item, bool)) for item in value)
        return {_LIST if numbers else _OTHER_LIST}
    if isinstance(value, str):
        return {_MOMENT if _IS_MOMENT.fullmatch(value) else _TEXT}
    return {{bool: _FLAG, int: _WHOLE, float: _NUMBER}.get(type(value), _OBJECT)}


def _field(name: str, kinds: set[str]) -> Field:
    if _NUMBER in kinds:
        kinds = kinds - {_WHOLE}
    if _TEXT in kinds:
        kinds = kinds - {_MOMENT}
    kind = " and ".join(sorted(kinds)) or "null"
    numeric = kind in (_WHOLE, _NUMBER, _FLAG, _LIST, "null")
    return Field(name, kind, numeric, False, 0 if kind == _LIST else None, "moments" if kind == _MOMENT else None)


def _type(field: Field, *, only_kept: bool) -> Any:
    pa = needed("pyarrow")
    kinds = {_FLAG: pa.bool_(), _TEXT: pa.string(), _LIST: pa.list_(pa.float64())}
    kinds |= {_WHOLE: pa.int64(), _MOMENT: pa.string()} if only_kept else {_MOMENT: pa.timestamp("us")}
    return kinds.get(field.type, pa.float64())
