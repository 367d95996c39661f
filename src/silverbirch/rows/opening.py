"""Makes a source of rows from any input. Only this module decides what kind of input X is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..checks import Rows, as_any_rows, as_count, as_flag, as_numpy, is_sparse, refused_sparse, refused_texts
from ..gpu.device import in_main_memory, is_on_gpu
from ..wording import parameter
from .chunk_source import ChunkSource
from .columns import Request, names_of
from .formats.annotated import annotated_table, is_annotated
from .formats.dataset import DatasetTable, is_dataset, is_scanner
from .formats.frames import ArrowReaderTable, as_table, is_arrow, is_frame, is_series
from .frame_rows import has_lists
from .gpu_source import GpuSource
from .memory_source import ArraySource, Complain, Convert, FrameSource
from .parsing import Parsing
from .paths import are_paths, is_path, tables_at
from .source import START, Chunk, Position, RowSource
from .table import Table
from .table_source import TableSource
from .weighted_source import WeightedSource

_ALL_COLUMNS = Request()


def source_of(
    X: Any,
    weight: Any = None,
    *,
    weight_name: str = "weight",
    convert: Convert = as_any_rows,
    complain: Complain | None = None,
) -> RowSource:
    """The source of rows that are to be clustered: an array is one chunk, a data frame and an array on a GPU come
    in slices, and `read_chunks` reads everything else.

    convert : makes rows from an array
    complain : raises the error for rows of an array with a value that cannot be clustered; None for the error of this
        package
    """
    source = GpuSource(X) if is_on_gpu(X) else _already_or_stream(X, _ALL_COLUMNS, None)
    if source is None and is_frame(X):
        source = FrameSource(X)
    elif source is None:
        source = ArraySource(Chunk(convert(as_numpy(X, "X")), START, Position(1, 0)), complain)
    return source if weight is None else WeightedSource(source, in_main_memory(weight), weight_name)


def is_table(X: Any) -> bool:
    """Whether X is a data frame, a column of lists, a table of pyarrow or a source that `read_chunks` made."""
    return isinstance(X, RowSource) or is_arrow(X) or is_frame(X) or (is_series(X) and has_lists(_as_frame(X)))


def rows_of_table(X: Any) -> Rows:
    """All rows of a table as one array; an error names the row and the column that cannot be clustered."""
    source = source_of(X)
    if source.weight_column is not None:
        raise ValueError(
            f"{parameter('weight_column', source.weight_column)} gives weights to a tree or a model: here, leave it"
            f" out and pass the weights by {parameter('weights')}"
        )
    return np.concatenate(list(source))


def read_chunks(
    source: Any,
    *,
    columns: Any = None,
    numeric_only: bool = False,
    id_column: Any = None,
    keep: Any = None,
    weight_column: Any = None,
    times: bool = False,
    chunk_rows: int | None = None,
    format: str | None = None,
    separator: str | None = None,
    decimal: str = ".",
    header: bool = True,
    encoding: str | None = None,
    comment: str | None = None,
) -> RowSource:
    """Returns the rows of files, tables or streams as a source that is read in chunks.

    The source holds one chunk in memory at a time. `CFTree.insert`, `CFTree.assign` and `Betula` take it as X.

    Parameters
    ----------
    source : path, array, data frame, Arrow table, stream or iterator
        A path, folder or pattern, also on another machine (`s3://bucket/rows/*.parquet`), "-" for the standard input,
        or a list of them; a NumPy array or memmap, or an array or tensor of another library in main memory; a data
        frame of pandas, polars or another library that narwhals supports; a pyarrow table, record batch, dataset,
        scanner or reader, or any object with an Arrow C stream; an AnnData object; an iterator
        of arrays, data frames or record batches.
    columns : str, or list of str or int, default None
        The columns to read, in this order: names, or numbers for columns without names. None reads all columns. A
        column "e" of lists becomes the columns "e[0]", "e[1]", …; all its lists need the same length. "a,b" is the
        column of that name, or else the columns "a" and "b". Of an AnnData object these are variables, or matrices of
        `obsm`.
    numeric_only : bool, default False
        Whether to leave out columns that hold neither numbers nor lists of numbers instead of raising an error.
    id_column : str or int, default None
        A column of row ids. It is not read as data; `RowSource.chunks(with_ids=True)` returns it with each chunk.
    keep : str, or list of str or int, default None
        More columns to return with each chunk, of any type. Those that `columns` does not name are not read as data.
    weight_column : str or int, default None
        A column that says how often each row counts. It is not read as data. A row of weight 0 is the same as no row
        for the clusters, and still gets a label.
    times : bool, default False
        Whether to read dates and timestamps as seconds since 1970, times of day as seconds since midnight, and
        durations as seconds. Otherwise they are columns that hold no numbers.
    chunk_rows : int, default None
        The number of rows of a chunk; None for about 4 MB. An iterator keeps its own chunks.
    format : str, default None
        The format of the files: "csv", "tsv", "jsonl", "parquet", "arrow", "npy" or another suffix that is known. None
        tells it by the end of each name. The standard input has none, so it needs a format. In a folder, the files of
        this format are read.
    separator : str, default None
        The character between the values of a CSV file; " " stands for any number of spaces and tabs. None finds it:
        a comma, semicolon, tab, bar or spaces.
    decimal : {".", ","}, default "."
        The decimal mark in CSV files.
    header : bool, default True
        Whether the first line of a CSV file holds the names of the columns. Without names, columns have numbers.
    encoding : str, default None
        The encoding of CSV and JSON files, such as "latin-1". None for UTF-8, or UTF-16 if the file begins with its
        byte order mark.
    comment : str, default None
        Lines of a CSV file that begin with this text are left out.

    Returns
    -------
    RowSource
        An iterable of arrays (rows, columns). It has `names`, `n_dimensions`, `n_rows` (None if unknown) and
        `repeatable` (whether it can be read again).

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ValueError
        A file cannot be read, a column does not exist or is not numeric, or a value is missing or infinite. An option
        means nothing to any of the files, such as a separator to Parquet.
    TypeError
        The source is none of the above: for example texts, a sparse matrix or a tensor on a GPU.
    ImportError
        The input needs pyarrow or narwhals, which are not installed.

    Examples
    --------
    >>> import numpy as np, silverbirch as sb
    >>> source = sb.read_chunks(np.arange(15.0).reshape(5, 3), columns=[0, 2], chunk_rows=2)
    >>> [chunk.shape for chunk in source]
    [(2, 2), (2, 2), (1, 2)]
    """
    if isinstance(source, RowSource) and columns is not None and names_of(columns) == (source.names or source.numbers):
        columns = None  # it has them already
    names = columns, id_column, keep, weight_column
    given = any(as_flag(flag, name) for flag, name in ((numeric_only, "numeric_only"), (times, "times")))
    given = given or any(name is not None for name in names)
    if isinstance(source, RowSource) and (given or chunk_rows is not None):
        raise ValueError("the source exists already: choose columns and chunk_rows in its own read_chunks")
    request = Request(
        columns=None if columns is None else names_of(columns),
        numeric_only=bool(numeric_only),
        id_column=None if id_column is None else str(id_column),
        keep=() if keep is None else names_of(keep),
        weight_column=None if weight_column is None else str(weight_column),
        times=bool(times),
    )
    rows = None if chunk_rows is None else as_count(chunk_rows, "chunk_rows")
    parsing = Parsing.of(format, separator, decimal, header, encoding, comment)
    if is_path(source) or are_paths(source):
        return TableSource(tables_at([source] if is_path(source) else source, parsing), request, rows)
    parsing.check_used(set(), f"a {type(source).__name__}, which is not a file")
    found = _already_or_stream(source, request, rows)
    return TableSource([as_table(source, "X")], request, rows) if found is None else found


def _already_or_stream(X: Any, request: Request, chunk_rows: int | None) -> RowSource | None:
    """The source for X; None if X is an array or a data frame in memory."""
    if isinstance(X, RowSource):
        return X
    if isinstance(X, Chunk):
        return ArraySource(X)
    _refuse_without_rows(X)
    if is_annotated(X):
        table, request = annotated_table(X, request)
        return TableSource([table], request, chunk_rows)
    if tables := _tables_of(X):
        return TableSource(tables, request, chunk_rows)
    return ChunkSource(X, request) if isinstance(X, Iterator) else None


def _tables_of(X: Any) -> Sequence[Table]:
    """The tables of files and of what Arrow reads; none for generators, arrays and frames of plain numbers."""
    if is_path(X):
        return tables_at([X])
    if are_paths(X):
        return tables_at(X)
    if is_dataset(X):
        return [DatasetTable(X)]
    if is_scanner(X):
        return [ArrowReaderTable(X.to_reader())]
    if _is_arrow_stream(X):
        return [ArrowReaderTable(X)]
    frame = _as_frame(X)
    if is_arrow(X) or _is_map_to_convert(X) or (is_frame(frame) and has_lists(frame)):
        return [as_table(frame, "X")]
    return []


def _as_frame(X: Any) -> Any:
    """A single column as a data frame; everything else as it is."""
    return X.to_frame(X.name or "X") if is_series(X) else X


def _refuse_without_rows(X: Any) -> None:
    """Raises TypeError for what has no dense rows of numbers in memory: collections of Dask and Spark, sparse matrices,
    queries, columns and arrays of texts.
    """
    engine = "Spark" if _is_of_spark(X) else "Dask" if _is_lazy_of_dask(X) else None
    if engine is not None:
        raise TypeError(
            f"X is a collection of {engine} ({type(X).__name__}), whose rows are not here: cluster them there by "
            f"silverbirch.{engine.lower()}.Betula, or pass X.{'toPandas' if engine == 'Spark' else 'compute'}()"
        )
    if is_sparse(X):
        raise refused_sparse(X, "X")
    if type(X).__name__ == "LazyFrame":
        raise TypeError(
            f"a {type(X).__name__} is a query without rows: pass .collect(), or write it to a file by .sink_parquet"
        )
    if is_series(X) or (isinstance(X, np.ndarray) and X.ndim == 1):
        values = np.asarray(X)
        if values.dtype.kind in "OUT" and len(values) and isinstance(values[0], str):
            raise refused_texts("X", values[0])


def _is_lazy_of_dask(X: Any) -> bool:
    # An array of xarray in memory has the method, too, but no graph.
    return hasattr(X, "__dask_graph__") and X.__dask_graph__() is not None


def _is_of_spark(X: Any) -> bool:
    return type(X).__module__.startswith("pyspark.") and hasattr(X, "toPandas")


def _is_arrow_stream(X: Any) -> bool:
    # Tables in memory also have an Arrow stream, but can be read twice. A query of duckdb has a shape but no __array__.
    in_memory = hasattr(X, "shape") and hasattr(X, "__array__")
    return hasattr(X, "__arrow_c_stream__") and not (in_memory or is_arrow(X))


def _is_map_to_convert(X: Any) -> bool:
    """Whether X is a memory map that has to be converted. As an array it would be converted as a whole."""
    return isinstance(X, np.memmap) and not (X.flags.c_contiguous and X.dtype in (np.float32, np.float64))
