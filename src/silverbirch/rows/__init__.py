"""Rows from anywhere, in chunks of bounded size.

    read_chunks   -- a RowSource of paths, arrays, data frames, Arrow streams, generators
    is_stream     -- whether something has to be read in chunks

    RowSource     -- iterable; names, n_rows, chunks(begin), fraction, place, fingerprint, extremes
    Chunk         -- rows, ids, where it begins and ends
    Position      -- number of the file, row in it; START is the first row

One file each: `source` (what a source is), `opening` (what becomes one), `table_source` and `chunk_source` (tables and
generators as sources), `paths` (files, folders, patterns), `columns` (which columns; Arrow to rows), `table` (what a
format has to say), `formats` (Parquet, Arrow), `text` (CSV), `arrays` (NumPy), `frames` (data frames, Arrow in memory).
"""

from .opening import is_stream, read_chunks
from .source import START, Chunk, Position, RowSource

__all__ = ["START", "Chunk", "Position", "RowSource", "is_stream", "read_chunks"]
