"""Archives of NumPy that hold a single array."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator

from ..input_file import InputFile, copied
from ..parsing import DEFAULT, Parsing
from ..table import reading
from .npy import NpyTable

_PIECE = 1 << 20


class NpzTable(NpyTable):
    """An .npz archive of one array, which is unpacked to a temporary file."""

    suffixes = (".npz",)

    def __init__(self, file: InputFile, parsing: Parsing = DEFAULT) -> None:
        self._copy, _ = copied(_pieces(file), file.label)
        super().__init__(file, parsing)

    @property
    def _array_file(self) -> InputFile:
        return InputFile(self._copy.path, ".npy", self.label)


def _pieces(file: InputFile) -> Iterator[bytes]:
    with (
        reading(file.label),
        file.open() as packed,
        zipfile.ZipFile(packed) as archive,
        archive.open(_only_array(archive, file.label)) as member,
    ):
        yield from iter(lambda: member.read(_PIECE), b"")


def _only_array(archive: zipfile.ZipFile, label: str) -> str:
    names = archive.namelist()
    if len(names) == 1:
        return names[0]
    listed = ", ".join(name.removesuffix(".npy") for name in names) or "none"
    first = names[0].removesuffix(".npy") if names else "x"
    raise ValueError(
        f"{label} holds {len(names)} arrays ({listed}): save the one to read, for example by "
        f"np.save('{first}.npy', np.load({label!r})[{first!r}])"
    )
