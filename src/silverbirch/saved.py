"""The methods of everything that can be saved to a file. The room storage knows what the files hold."""

from __future__ import annotations

import os
from typing import Self


class Saved:
    """The base of cluster features, trees, dendrograms and models."""

    __slots__ = ()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the object to a file.

        A tree or a model that is loaded again continues as this one would, to the bit. The `labels_` of a model are not
        stored, because there may be billions; `predict` computes them again.

        Parameters
        ----------
        path : str or path
            The file to write; an existing file is replaced once the new one is complete.
        """
        from .storage.loading import save

        save(path, self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Returns the object of this class that a file holds.

        The file of a whole gives its parts too: the features of a tree, a dendrogram or a model, and the tree and the
        dendrogram of a model.

        Parameters
        ----------
        path : str or path
            A file that `save` or the command line wrote.

        Returns
        -------
        Self
            The object.

        Raises
        ------
        ModelFileError
            The file is damaged, holds no such object, or holds a model of scaled or filled rows where a `Betula` is
            wanted. For such a model use `silverbirch.load`, which loads the preparation of rows too.
        """
        from .storage.loading import load_as

        loaded: Self = load_as(cls, path)
        return loaded
