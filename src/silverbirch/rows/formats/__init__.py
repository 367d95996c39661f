"""The formats that rows are read from, one module each.

To add a file format, write a module with a Table that has `suffixes`, and add the Table to FILE_FORMATS.
"""

from .arrow import ArrowFileTable, ArrowStreamTable
from .csv import CsvTable
from .npy import NpyTable
from .parquet import ParquetTable

FILE_FORMATS = (ParquetTable, CsvTable, ArrowFileTable, ArrowStreamTable, NpyTable)
