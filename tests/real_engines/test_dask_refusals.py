"""What silverbirch.dask refuses: the error says what is wrong, and the model stays as it was."""

from pathlib import Path

import dask.array as da
import dask.bag as db
import numpy as np
import pytest
from dask import delayed
from sklearn.base import clone

import silverbirch.dask as sd
from dask_rows import FRAME, NAN, OPTIONS, SPARSE_CHUNKS, WEIGHT, X, array, frame, in_memory, saved

WRONG = {
    "rows in memory": (lambda m: m.fit(X), TypeError, "X is a ndarray, no collection of Dask: silverbirch.Betula"),
    "a list": (lambda m: m.fit([]), TypeError, "X is a list, no collection of Dask"),
    "weights in memory": (
        lambda m: m.fit(array(), sample_weight=WEIGHT),
        TypeError,
        "sample_weight is a ndarray, no collection of Dask: give it the partitions of X",
    ),
    "NaN": (lambda m: m.fit(array(NAN)), ValueError, r"^partition 3: column 0 is missing in .*row 45"),
    "NaN in another chunk": (lambda m: m.partial_fit(frame(FRAME.where(FRAME.x < 40))), ValueError, r"^partition \d: "),
    "another width": (lambda m: m.partial_fit(array(X[:, :2], (100, 2))), ValueError, "column"),
    "other names": (lambda m: m.partial_fit(frame(FRAME.rename(columns={"x": "u"}))), ValueError, "no column 'x'"),
    "different columns": (
        lambda m: m.fit([delayed(FRAME), delayed(FRAME[["z", "y", "x"]])]),
        ValueError,
        "has the columns x, y, z, another one the columns z, y, x",
    ),
    "1-D": (lambda m: m.fit(array()[:, 0]), ValueError, "X is 1-D: rows need a 2-D array"),
    "weights of other partitions": (
        lambda m: m.fit(frame(), sample_weight=da.ones(800, chunks=400)),
        ValueError,
        "sample_weight has 2 partitions but X has 8: give it the same partitions",
    ),
    "weights of other rows": (
        lambda m: m.fit([delayed(X)], sample_weight=[delayed(WEIGHT[:10])]),
        ValueError,
        r"^partition 0: sample_weight",
    ),
    "negative weights": (lambda m: m.fit(array(), sample_weight=-1), ValueError, r"^partition \d: sample_weight"),
    "no weight": (lambda m: m.fit(array(), sample_weight=0), ValueError, "sample_weight is zero for all rows"),
    "too few weights": (
        lambda m: m.fit(array(), sample_weight=da.ones(700, chunks=100)),
        ValueError,
        "sample_weight has 700 weights but X has 800 rows: give one for each row",
    ),
    "weights in two dimensions": (
        lambda m: m.fit(array(), sample_weight=da.ones((800, 1), chunks=(100, 1))),
        ValueError,
        "sample_weight is 2-D: one weight for each row",
    ),
    "paths": (lambda m: m.fit(["rows.parquet"]), TypeError, r"\[dask\.delayed\(path\), …\]"),
    "sparse chunks without projection": (lambda m: m.fit(SPARSE_CHUNKS), TypeError, r"^partition \d: X is a sparse"),
    "scaled sparse chunks": (
        lambda m: m.set_params(scale="standard").fit(SPARSE_CHUNKS),
        TypeError,
        r"^partition \d: X is sparse: scale='standard' would make it dense",
    ),
    "rows of several lengths": (
        lambda m: m.fit(db.from_sequence([[1.0, 2.0], [1.0]], npartitions=1)),
        ValueError,
        "^partition 0: the items of the bag have 1 to 2 values",
    ),
    "a key in no item": (
        lambda m: m.fit(db.from_sequence([{"x": 1.0, "y": 2.0}, {"x": 3.0}], npartitions=2)),
        ValueError,
        r"has the columns x, y, another one the columns x: all need the same columns; .*to_dataframe\(meta=…\)",
    ),
    "an item that is no dictionary": (
        lambda m: m.fit(db.from_sequence([{"x": 1.0}, None], npartitions=1)),
        TypeError,
        "^partition 0: an item of the bag is a NoneType, others are dictionaries",
    ),
    "an address as the client": (
        lambda m: clone(m).set_params(client="tcp://127.0.0.1:8786").fit(array()),
        TypeError,
        r"client='tcp://127.0.0.1:8786': a distributed\.Client is needed",
    ),
    "no rows": (lambda m: m.fit(frame()[frame().x > 1e9]), ValueError, "no rows: at least one is needed"),
    "too many clusters": (
        lambda m: m.set_params(n_clusters=61).fit(frame()),
        ValueError,
        r"n_clusters=61 but there are \d\d leaves: ",
    ),
    "no such scale": (lambda m: m.set_params(scale="log").fit(frame()), ValueError, "scale"),
    "texts": (
        lambda m: m.fit(frame(FRAME.assign(t="a"))),
        ValueError,
        r"^partition \d: .*'t'.* Choose columns by X\[\[…\]\]",
    ),
    "cut": (lambda m: m.cut(3), TypeError, r"use recut\(…\), then predict\(X\)"),
    "representatives": (lambda m: m.representatives(frame()), TypeError, r"use to_local\(\)"),
    "a bag to transform": (
        lambda m: m.transform(db.from_sequence(X.tolist())),
        TypeError,
        r"transform takes no bag: make it a data frame",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_an_error_says_what_is_wrong_and_leaves_the_model_as_it_was(case, tmp_path):
    call, error, words = WRONG[case]
    model = sd.Betula(**OPTIONS).fit(frame())
    before, labels, state = saved(model, tmp_path), in_memory(model.labels_), model.__dict__.copy()
    with pytest.raises(error, match=words):
        call(model)
    model.set_params(**OPTIONS, scale="none")
    assert model.__dict__.keys() == state.keys()
    assert model.counts_ == state["counts_"]
    assert saved(model, tmp_path) == before
    np.testing.assert_array_equal(in_memory(model.labels_), labels)


def test_rows_of_another_width_have_no_labels():
    model = sd.Betula(**OPTIONS).fit(array())
    for method in (model.predict, model.transform):
        with pytest.raises(ValueError, match=r"X has shape \(800, 2\) but the model has 3 columns"):
            method(array(X[:, :2], (100, 2)))
    projected = sd.Betula(**OPTIONS, projection=2).fit(array())
    with pytest.raises(ValueError, match="X has 4 columns but the model has 3"):
        projected.partial_fit(array(X[:, [0, 1, 2, 0]], (100, 4)))
    assert projected.tree_.n_points == 800


def test_an_estimator_that_is_not_fitted_says_so():
    from sklearn.exceptions import NotFittedError

    model = sd.Betula(**OPTIONS)
    for call in (
        model.predict,
        model.transform,
        model.score,
        lambda rows: model.to_local(),
        lambda rows: model.labels_,
    ):
        with pytest.raises(NotFittedError):
            call(array())
    with pytest.raises(NotFittedError):
        model.save(Path("nowhere"))
