"""CSV and TSV files, plain or compressed, read by Arrow."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from ...wording import parameter
from ..columns import Field, Wanted, arrow_fields, without_first
from ..parsing import SPACES
from ..source import ReadingBytes
from ..table import FileTable, needed, released
from .dialect import CommentRemover, SpaceRemover, found_separator, has_spaces, is_number
from .read_ahead import ReadAhead
from .text import ConvertedStream, TextFile, with_compressions

if TYPE_CHECKING:
    import pyarrow as pa

# Arrow always reads up to 32 blocks ahead, so blocks are small. The first block decides the types of the columns.
_BLOCK, _FIRST_BLOCK, _LONGEST_BLOCK = 1 << 18, 1 << 20, 1 << 28
_LINES = 16  # a block has room for this many lines as long as the first: each column of each block takes time
# Blocks, measured where other programs use the cores too; bytes of the text of a number.
_READ_AHEAD, _LONG_VALUE, _ARRAY_BYTES = 140, 20, 1000
_VALUES = 1000  # of a column of text, to see whether they are numbers with another decimal mark
_EXAMPLE = 30  # letters of a value in a message
_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", SPACES: "spaces"}


class CsvTable(FileTable):
    """A CSV or TSV file. The first block decides which columns are numbers.

    All numbers are read as float64, because a column that begins with whole numbers may continue with fractions. Ids
    and other kept columns are read as text.
    """

    suffixes = with_compressions(".csv", ".tsv")
    takes = ("separator", "decimal", "header", "encoding", "comment")
    keeps_text = True

    def _open(self) -> None:
        self.fields, self._block = (), _BLOCK
        self.named = self.parsing.header
        self._text = TextFile(self.file, self.parsing.encoding)
        self._look()
        with released():
            schema, names_in_file, values = self._first_block()
        names = [name.strip() if self.named else str(number) for number, name in enumerate(names_in_file)]
        if self.named:
            self._check_header(names)
        self._in_file = dict(zip(names, names_in_file, strict=True))
        fields = [field._replace(name=name) for field, name in zip(arrow_fields(schema), names, strict=True)]
        self._otherwise_numbers = self._other_decimals(fields, values)
        self.fields = tuple(
            field._replace(numeric=True) if field.name in self._otherwise_numbers else self._with_example(field, texts)
            for field, texts in zip(fields, values.columns if values is not None else [()] * len(fields), strict=True)
        )
        self._block = max(self._block, _LINES * sum(map(len, names)))
        usual = needed("pyarrow.csv").ConvertOptions()
        self._other_values = {*usual.null_values, *usual.true_values, *usual.false_values}  # that are not numbers
        kinds = {name: _exact(kind) for name, kind in zip(names, schema.types, strict=True)}
        self._not_floats = {name: kind for name, kind in kinds.items() if kind is not None}

    def _look(self) -> None:
        """Finds the separator, and whether there are spaces around values."""
        self._has_spaces = False
        begin = self._text.begin(_FIRST_BLOCK)
        if self.parsing.comment is not None:
            with self._text.reading():
                begin = self._stream()[0].read(_FIRST_BLOCK)
        if len(begin) == _FIRST_BLOCK:  # the last line may be cut off
            begin = begin[: begin.rfind(b"\n") + 1] or begin
        usual = "\t" if self.file.suffix.startswith(".tsv") else ","
        self._separator = self.parsing.separator or found_separator(begin, usual, self.parsing.decimal)
        self._has_spaces = self._separator == SPACES or has_spaces(begin, self._separator)

    def _first_block(self) -> tuple[pa.Schema, list[str], Any]:
        """The schema by the first block, the names in it, and the values of that block; None without rows."""
        while True:
            try:
                block = max(self._block, _FIRST_BLOCK)
                with self._saying_where(), self._reader(self._stream()[0], block) as reader:
                    return reader.schema, reader.schema.names, next(reader, None)
            except ValueError as error:
                self._try_again(error)

    def _stream(self) -> tuple[Any, Callable[[], int]]:
        """The text as Arrow shall see it, and a function that returns how many bytes of the file are read."""
        text, bytes_read = self._text.open()
        if self.parsing.comment is not None:
            text = ConvertedStream(text.read, CommentRemover(self.parsing.comment))
        if self._has_spaces:
            text = ConvertedStream(text.read, SpaceRemover(self._separator))
        return text, bytes_read

    def _reader(self, text: Any, block: int, types: dict[str, Any] | None = None) -> Any:
        csv = needed("pyarrow.csv")
        options = {
            "read_options": csv.ReadOptions(
                use_threads=False, block_size=block, autogenerate_column_names=not self.parsing.header
            ),
            "parse_options": csv.ParseOptions(
                delimiter="\t" if self._separator == SPACES else self._separator,
                newlines_in_values=True,
                ignore_empty_lines=len(self.fields) != 1,  # with one column, an empty line is a missing value
            ),
            "convert_options": csv.ConvertOptions(
                column_types=types, include_columns=list(types or ()), decimal_point=self.parsing.decimal
            ),
        }
        opened = partial(csv.open_csv, **options)
        without_python = self.file.local is not None and isinstance(text, needed("pyarrow").NativeFile)
        return opened(text) if without_python else ReadAhead(text, opened)

    def _check_header(self, names: list[str]) -> None:
        """Raises ValueError if the first line holds numbers: a row would be lost. pandas writes 0, 1, 2, … as names.

        Raises it for the line by which Excel learns the separator as well: it is not a line of names.
        """
        if names[0].lower().startswith("sep="):
            raise ValueError(
                f"{self.label} begins with {names[0]!r}, which tells Excel the separator: leave the line out by "
                f"{parameter('read_chunks().comment', names[0][:4])}"
            )
        numbers = [name.replace(self.parsing.decimal, ".") for name in names]
        if all(map(is_number, numbers)) and names != [str(i) for i in range(len(names))]:
            raise ValueError(
                f"{self.label} begins with numbers where the names of the columns should be "
                f"({', '.join(names[:3])}{', …' if len(names) > 3 else ''}): add a first line with names, or say that "
                f"there is none by {parameter('read_chunks().header', False)}"
            )

    def _other_decimals(self, fields: list[Field], values: Any) -> dict[str, str]:
        """The columns whose texts would be numbers with the other decimal mark, and a value of each."""
        mark = {".": ",", ",": "."}[self.parsing.decimal]
        whole, found = re.compile(rf"\s*[+-]?\d*({re.escape(mark)}\d+)?([eE][+-]?\d+)?\s*"), {}
        for number, field in enumerate(fields if values is not None else ()):
            if field.type == "string":
                texts = values.column(number)[:_VALUES].to_pylist()
                with_mark = [text for text in texts if mark in text]
                if with_mark and all(map(whole.fullmatch, texts)):
                    found[field.name] = with_mark[0].strip()
        return found

    def _with_example(self, field: Field, texts: Any) -> Field:
        """The field; that of a text names a value that is not a number, because the others may look like numbers."""
        if field.type == "string":
            for text in texts[:_VALUES].to_pylist():
                if text and not is_number(text.replace(self.parsing.decimal, ".")):
                    return field._replace(type=f"text such as {text.strip()[:_EXAMPLE]!r}")
        return field

    def check(self, wanted: Wanted) -> None:
        """Raises ValueError for a column of numbers that are written with the other decimal mark."""
        for name in (*wanted.names, wanted.weight_column):
            if name in self._otherwise_numbers:
                mark = {".": ",", ",": "."}[self.parsing.decimal]
                raise ValueError(
                    f"{self.label}: column {name!r} holds {self._otherwise_numbers[name]!r}, which is a number if "
                    f"{mark!r} is the decimal mark: say so by {parameter('read_chunks().decimal', mark)}"
                )

    def _try_again(self, error: ValueError) -> None:
        """Prepares for a line that is longer than a block, and for spaces around a value; raises other errors again."""
        if "straddling" in str(error) and self._block < _LONGEST_BLOCK:
            self._block *= 4
        elif isinstance(error, _SpacesError) and not self._has_spaces:
            self._has_spaces = True
        else:
            raise error

    def reading_bytes(self, wanted: Wanted, chunk_rows: int) -> ReadingBytes:
        """Blocks of text that are read ahead, and an array for each column of each block of a chunk."""
        blocks = -(-chunk_rows * len(self.fields) * _LONG_VALUE // self._block)
        taken = _READ_AHEAD * self._block + blocks * len(wanted.all_names) * _ARRAY_BYTES
        return ReadingBytes(taken, taken)

    def batches(self, wanted: Wanted, begin: int, chunk_rows: int) -> Iterator[pa.RecordBatch]:
        while True:
            try:
                with released():
                    for batch in self._batches_from(begin, wanted):
                        begin += batch.num_rows
                        yield batch
                return
            except ValueError as error:
                self._try_again(error)

    def _batches_from(self, begin: int, wanted: Wanted) -> Iterator[pa.RecordBatch]:
        with self._saying_where():
            text, bytes_read = self._stream()
            block = self._block
            # A batch is a block of text. Where the text is not that of the file, Arrow reads ahead of what is known.
            exact = self._text.is_plain and not isinstance(text, ConvertedStream)
            with self._reader(text, block, self._types(wanted)) as reader:
                read = self._noting_bytes(reader, lambda n: min(n * block, self.n_bytes) if exact else bytes_read())
                for batch in without_first(read, begin):
                    yield self._renamed(batch, wanted)

    def _types(self, wanted: Wanted) -> dict[str, Any]:
        pa = needed("pyarrow")
        types = {name: self._not_floats.get(name, pa.float64()) for name in wanted.names}
        weights = {} if wanted.weight_column is None else {wanted.weight_column: pa.float64()}
        types = dict.fromkeys(wanted.kept, pa.string()) | weights | types
        return {self._in_file[name]: types[name] for name in wanted.all_names}

    def _renamed(self, batch: pa.RecordBatch, wanted: Wanted) -> pa.RecordBatch:
        """The batch with the names of the fields, and texts without spaces around them."""
        pa, trimmed = needed("pyarrow"), needed("pyarrow.compute").utf8_trim
        columns = [trimmed(values, " \t") if pa.types.is_string(values.type) else values for values in batch.columns]
        return pa.RecordBatch.from_arrays(columns, names=wanted.all_names)

    @contextlib.contextmanager
    def _saying_where(self) -> Iterator[None]:
        try:
            with self._text.reading():
                yield
        except ValueError as error:
            raise self._explained(str(error)) or error from None

    def _explained(self, message: str) -> ValueError | None:
        """The error in words of the file: which line, which column."""
        if found := re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", message):
            return ValueError(
                f"{self._line(found[1])} has {found[3]} values, but {found[2]} came before (separator: "
                f"{_NAMES.get(self._separator, self._separator)}): correct it, or say how to read the file by "
                f"{parameter('read_chunks().separator', ...)}, {parameter('comment')} or {parameter('decimal')}"
            )
        if found := re.search(r"column #(\d+): (?:Row #(\d+): )?.*invalid value '(.*)'", message, re.DOTALL):
            column, value = self.fields[int(found[1])].name, found[3]
            kind = _SpacesError if value.strip() in self._other_values else ValueError
            if value.strip() == column:
                remedy = "these are the names again, as in files that were joined: leave that line out"
            else:
                remedy = f"correct it, or choose other columns by {parameter('read_chunks().columns', ...)}"
            return kind(
                f"{self._line(found[2])}: column {column!r} holds {value!r} where numbers came before: {remedy}"
            )
        return None

    def _line(self, number: str | None) -> str:
        """The file, and the line if it is known. Arrow does not see the comments."""
        if number is None:
            return self.label
        return f"{self.label}, line {number}{'' if self.parsing.comment is None else ' without the comments'}"


class _SpacesError(ValueError):
    """A missing value or a truth value with spaces around it, which Arrow does not see as such."""


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
