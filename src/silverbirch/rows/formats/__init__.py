"""The formats that rows are read from, one module each.

To add a file format, write a module with a Table that has `suffixes`, and add the Table to FILE_FORMATS. If the user
can say how it is parsed, the Table has `takes`, too.
"""

from .arrow import ArrowFileTable, ArrowStreamTable
from .csv import CsvTable
from .jsonl import JsonLinesTable
from .npy import NpyTable
from .npz import NpzTable
from .parquet import ParquetTable

FILE_FORMATS = (ParquetTable, CsvTable, JsonLinesTable, ArrowFileTable, ArrowStreamTable, NpyTable, NpzTable)
