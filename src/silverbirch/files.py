"""Model files: named arrays and a JSON header in an uncompressed .npz archive. No pickle, ever.

Every archive holds an entry `silverbirch.json` with the format version, the kind of object and its plain values; the
other entries are arrays. The zip container checks each entry with a CRC.
"""

import json
import os
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import ModelFileError

FORMAT_VERSION = 1
_HEADER = "silverbirch.json"


def write(path: str | os.PathLike[str], kind: str, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Written beside the target and renamed, so that a crash leaves the old file or the new one."""
    target = Path(path)
    text = json.dumps({"format": FORMAT_VERSION, "kind": kind, **header})
    with tempfile.NamedTemporaryFile(dir=target.parent or ".", prefix=target.name, delete=False) as file:
        try:
            np.savez(file, **{_HEADER: np.frombuffer(text.encode(), dtype=np.uint8)}, **arrays)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            os.unlink(file.name)
            raise
    os.replace(file.name, target)


def read(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays; ModelFileError where the file is not a whole one of that kind."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays.pop(_HEADER).tobytes())
        version, found = header["format"], header["kind"]
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        EOFError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise ModelFileError(f"{path} is not a whole silverbirch file: {error}") from None
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"{path} has format {version}, this version reads up to {FORMAT_VERSION}: update silverbirch"
        )
    if found != kind:
        raise ModelFileError(f"{path} holds a {found}, not a {kind}")
    return header, arrays
