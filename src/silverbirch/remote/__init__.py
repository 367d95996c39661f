"""Files on other machines: places with a scheme, such as s3://bucket/rows.parquet.

Nothing of pyarrow or fsspec is imported until a remote place is used.
"""

from .paths import Place, RemotePath, is_file_address, is_remote, of_each, place, same_place, size_of

__all__ = ["Place", "RemotePath", "is_file_address", "is_remote", "of_each", "place", "same_place", "size_of"]
