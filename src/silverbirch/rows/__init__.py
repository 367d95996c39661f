"""Rows from anywhere, in chunks of bounded size.

    read_chunks   -- a RowSource of paths, arrays, data frames, Arrow streams, generators
    source_of     -- the same for rows to be clustered: an array in memory is one chunk

    RowSource     -- iterable; names, n_rows, chunks(begin), checked, place, fraction, fingerprint, extremes
    Chunk         -- rows, weight, ids, where it begins and ends, whether its values were checked
    Position      -- number of the file, row in it; START is the first row

One file each: `source` (what a source is), `opening` (what becomes one), `table_source`, `chunk_source` and
`memory_source` (tables, generators, arrays and frames as sources), `weighted_source`, `passes` (one pass over a
source), `paths` (files, folders, patterns), `columns` (which columns; Arrow to rows), `table` (what a format has to
say), `formats` (one module for each format).
"""

from .opening import read_chunks, source_of
from .source import START, Chunk, Position, RowSource

__all__ = ["START", "Chunk", "Position", "RowSource", "read_chunks", "source_of"]
