"""What can carry an Arrow table with columns of every type: files, tables and streams."""

from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.parquet as pq


def file_of(suffix):
    def written(table, folder, rows_of_batch):
        path = Path(folder, f"rows{suffix}")
        if suffix == ".parquet":
            pq.write_table(table, path, row_group_size=rows_of_batch)
        elif suffix == ".arrows":
            with pa.ipc.new_stream(str(path), table.schema) as writer:
                writer.write_table(table, max_chunksize=rows_of_batch)
        else:
            feather.write_feather(table, str(path), chunksize=rows_of_batch)
        return path

    return written


CARRIERS = {
    "Parquet": file_of(".parquet"),
    "Arrow": file_of(".arrow"),
    "stream": file_of(".arrows"),
    "table": lambda table, *_: table,
    "reader": lambda table, _, rows: table.to_reader(max_chunksize=rows),
    "dataset": lambda table, *_: ds.dataset(table),
    "scanner": lambda table, _, rows: ds.dataset(table).scanner(batch_size=rows),
    "chunks": lambda table, _, rows: (table.slice(i, rows) for i in range(0, len(table), rows)),
}
