"""Datasets of pyarrow: many files read as one table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..columns import Wanted, arrow_fields, without_first
from ..table import ArrowTable, needed, reading

if TYPE_CHECKING:
    import pyarrow as pa


class DatasetTable(ArrowTable):
    """A dataset of pyarrow, scanned anew for each pass; only the wanted columns are read."""

    def __init__(self, dataset: Any, label: str = "the dataset") -> None:
        self.label = label
        self._dataset = dataset
        self.fields = arrow_fields(dataset.schema)

    def batches(self, wanted: Wanted, begin: int, chunk_rows: int) -> Iterator[pa.RecordBatch]:
        field = needed("pyarrow.compute").field
        with reading(self.label):
            scanner = self._dataset.scanner(
                columns={name: field(name) for name in wanted.all_names},  # a dot in a name is a letter
                batch_size=chunk_rows,
                batch_readahead=1,
                fragment_readahead=1,
            )
            yield from without_first(scanner.to_batches(), begin)


def is_dataset(source: Any) -> bool:
    """Whether the source is a dataset of pyarrow; does not import pyarrow."""
    return type(source).__module__ == "pyarrow._dataset" and hasattr(source, "scanner")


def is_scanner(source: Any) -> bool:
    """Whether the source is a scanner of pyarrow, which is read once; does not import pyarrow."""
    return type(source).__module__ == "pyarrow._dataset" and hasattr(source, "to_reader")
