"""Reads rows from any input in chunks of bounded size.

    read_chunks   -- makes a RowSource from paths, arrays, data frames, Arrow streams or generators
    source_of     -- makes a RowSource of rows to be clustered: an array in memory is one chunk
    rows_of_table -- all rows of a data frame or of another table (`is_table`) as one array

    RowSource     -- iterable; names, n_rows, chunks(begin), checked, place, fraction, fingerprint, extremes
    Chunk         -- rows, weight, kept columns with ids, begin and end, whether the values were checked
    Position      -- number of the file and row in the file; START is the first row

Modules: `source` (RowSource, Chunk), `opening` (which source an input becomes), `table_source`, `chunk_source` and
`memory_source` (sources of tables, of generators, and of arrays and frames), `weighted_source`, `projected_source`
(fewer columns), `direction_source` (rows of unit length), `passes` (one pass over a source), `paths` (files, folders,
patterns), `input_file` (a file, or the copy of a stream), `parsing` (what the user says about files), `partitions`
(columns in the names of folders), `columns` (choice of columns), `arrow_rows` (Arrow to rows),
`frame_rows` (frames to rows without Arrow), `table` (interface of a format), `formats` (one module for each format).
"""

from .opening import is_table, read_chunks, rows_of_table, source_of
from .source import START, Chunk, NoRowsError, Position, RowSource

__all__ = [
    "START",
    "Chunk",
    "NoRowsError",
    "Position",
    "RowSource",
    "is_table",
    "read_chunks",
    "rows_of_table",
    "source_of",
]
