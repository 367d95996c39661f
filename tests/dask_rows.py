"""The same 800 rows as every kind of Dask collection, for the tests of silverbirch.dask."""

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import scipy.sparse
from dask import delayed

from trees import gaussian_clusters

NAMES = list("xyz")
X = gaussian_clusters(800, 3)
FRAME = pd.DataFrame(X, columns=NAMES)
WEIGHT = np.random.default_rng(0).integers(0, 4, 800).astype(float)
PIECES = [slice(begin, begin + 100) for begin in range(0, 800, 100)]
NAN = np.where(np.arange(800)[:, None] == 345, np.nan, X)
SPARSE = scipy.sparse.random(800, 60, 0.2, format="csr", random_state=0)
SPARSE_CHUNKS = [delayed(SPARSE[piece]) for piece in PIECES]
OPTIONS = {"n_clusters": 10, "max_leaves": 60}


def array(rows=X, chunks=(100, 3)):
    return da.from_array(rows, chunks=chunks)


def frame(rows=FRAME):
    return dd.from_pandas(rows, npartitions=8)


def unknown_divisions(rows):
    return dd.from_delayed([delayed(rows.iloc[piece]) for piece in PIECES])


def filtered(rows):
    """The same rows, but Dask does not know how many there are in a block."""
    rows = da.from_array(rows, chunks=(100, *rows.shape[1:]))
    found = rows[rows.map_blocks(np.isfinite, dtype=bool).reshape(len(rows), -1).all(axis=1)]
    assert np.isnan(found.shape[0])
    return found


def parquet(folder):
    for number, piece in enumerate(PIECES):
        FRAME[piece].to_parquet(folder / f"{number}.parquet", index=False)
    return [folder / f"{number}.parquet" for number in range(8)]


# The rows, and the weights with the same partitions.
FORMS = {
    "array": lambda folder: (array(), da.from_array(WEIGHT, chunks=100)),
    "array in columns": lambda folder: (array(chunks=(100, 2)), da.from_array(WEIGHT, chunks=350)),
    "array of unknown chunks": lambda folder: (filtered(X), filtered(WEIGHT)),
    "frame": lambda folder: (frame(), frame(pd.DataFrame({"w": WEIGHT})).w),
    "frame of unknown divisions": lambda folder: (
        unknown_divisions(FRAME),
        unknown_divisions(pd.DataFrame({"w": WEIGHT})).w,
    ),
    "frame and array": lambda folder: (frame(), da.from_array(WEIGHT, chunks=100)),
    "bag of lists": lambda folder: (
        db.from_sequence(X.tolist(), npartitions=8),
        db.from_sequence(WEIGHT.tolist(), npartitions=8),
    ),
    "bag of dictionaries": lambda folder: (
        db.from_sequence(FRAME.to_dict("records"), npartitions=8),
        [delayed(WEIGHT[piece]) for piece in PIECES],
    ),
    "delayed arrays": lambda folder: (
        [delayed(X[piece]) for piece in PIECES],
        [delayed(WEIGHT[piece]) for piece in PIECES],
    ),
    "delayed frames": lambda folder: (
        [delayed(FRAME[piece]) for piece in PIECES],
        [delayed(pd.Series(WEIGHT[piece])) for piece in PIECES],
    ),
    "delayed names of files": lambda folder: (
        [delayed(str(path)) for path in parquet(folder)],
        da.from_array(WEIGHT, chunks=100),
    ),
    "delayed paths": lambda folder: (
        [delayed(path) for path in parquet(folder)],
        [delayed(WEIGHT[piece].tolist()) for piece in PIECES],
    ),
}


def in_memory(result, scheduler="threads"):
    """What a lazy result holds, as one array."""
    if isinstance(result, list):
        return np.concatenate(dask.compute(*result, scheduler=scheduler))
    return np.asarray(result.compute(scheduler=scheduler))


def rows_for(model):
    """The rows as the local model takes them."""
    return FRAME if hasattr(model, "feature_names_in_") else X


def saved(model, folder):
    model.save(folder / "model.sb")
    return (folder / "model.sb").read_bytes()
