"""Model files: named arrays and a JSON header in an uncompressed .npz archive. No pickle, ever.

Every archive holds an entry `silverbirch.json` with the format version, the kind of object and its plain values; the
other entries are arrays. The zip container checks each entry with a CRC.
"""

import json
import operator
import os
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
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent}")
    text = json.dumps({"format": FORMAT_VERSION, "kind": kind, **header})
    entries: dict[str, Any] = {_HEADER: np.frombuffer(text.encode(), dtype=np.uint8), **arrays}
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            np.savez(file, **entries)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def read(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays; ModelFileError where the file is not a whole one of that kind."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        if _HEADER not in arrays:
            raise ValueError("it has no header")
        header = json.loads(arrays.pop(_HEADER).tobytes())
        version, found = operator.index(header["format"]), str(header["kind"])
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except Exception as error:  # whatever a damaged or hostile archive sets off in zipfile, numpy or json
        reason = "it is no archive of plain arrays" if "pickle" in str(error) else error
        raise ModelFileError(f"{path} is not a whole silverbirch file: {reason}") from None
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"{path} has format {version}, this version reads up to {FORMAT_VERSION}: update silverbirch"
        )
    if found != kind:
        raise ModelFileError(f"{path} holds a {found}, not a {kind}")
    return header, arrays
