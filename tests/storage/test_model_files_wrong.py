"""Model files with the right checksum and the wrong content: refused, with one line that says why."""

import copy
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import silverbirch as sb
from model_files import file_of
from models import groups
from silverbirch.storage.loading import content_of

X = groups(400)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "any.sb"


def assert_refused(path, kind, values, arrays):
    path.write_bytes(file_of(kind, values, arrays))
    with pytest.raises(sb.ModelFileError, match=r"any.sb does not hold (a whole|cluster)") as caught:
        sb.load(path)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < len(str(path)) + 300


def changed(array, place, value):
    array = array.copy()
    array[place] = value
    return array


@pytest.mark.parametrize(
    "change",
    [
        {"weight": np.array([1.0, -1.0])},
        {"weight": np.array([1.0, np.nan])},
        {"weight": np.array([1.0, np.inf])},
        {"weight": np.array([1.0, 1e300])},
        {"weight": np.array([1.0])},
        {"weight": np.array(1.0)},
        {"weight": np.array([1, 1])},
        {"mean": np.array([[1.0, np.nan], [0, 0]])},
        {"mean": np.array([[1.0, 1e101], [0, 0]])},
        {"mean": np.array([1.0, 2.0])},
        {"mean": np.empty((0, 2))},
        {"mean": np.empty((2, 0))},
        {"mean": np.ones((2, 2), np.float32)},
        {"sse": np.array([0.0, -1.0])},
        {"sse": np.array([0.0, np.nan])},
        {"sse": np.array(0.0)},
        {"sse": np.ones((2, 1))},
    ],
    ids=str,
)
def test_wrong_features_are_refused(path, change):
    good = {"weight": np.ones(2), "mean": np.zeros((2, 2)), "sse": np.zeros(2)}
    assert_refused(path, "features", {}, good | change)


@pytest.mark.parametrize("name", ["weight", "mean", "sse"])
def test_features_with_an_array_missing_are_refused(path, name):
    arrays = {"weight": np.ones(2), "mean": np.zeros((2, 2)), "sse": np.zeros(2)}
    del arrays[name]
    assert_refused(path, "features", {}, arrays)


Z = sb.linkage(X[:4], "ward")


@pytest.mark.parametrize(
    "change",
    [
        {"Z": Z[:, :3]},
        {"Z": Z[0]},
        {"Z": Z.astype(np.float32)},
        {"Z": changed(Z, (0, 0), 6)},
        {"Z": changed(Z, (0, 0), -1)},
        {"Z": changed(Z, (0, 0), 1e300)},
        {"Z": changed(Z, (0, 0), np.nan)},
        {"Z": changed(Z, (0, 0), Z[0, 1])},
        {"Z": changed(Z, (1, 2), np.inf)},
        {"Z": changed(Z, (1, 3), 7)},
        {"prototypes": np.array([0, 1])},
        {"prototypes": np.array([0, 1, 4])},
        {"prototypes": np.array([0, 1, -1])},
        {"prototypes": np.array([0.0, 1.0, 2.0])},
        {"prototypes": np.array([[0, 1, 2]])},
        {"leaves": np.array([0, 1, 2])},
        {"leaves": np.array([0, 1, 3, 2])},
        {"leaves": np.array([-1, 1, 2, 3])},
        {"leaves": np.array([0.0, 1.0, 2.0, 3.0])},
        {"names.node": np.array([0, 7])},
        {"names.node": np.array([0, -1])},
        {"names.node": np.array([3, 3])},
        {"names.node": np.array([0, 1, 2])},
        {"names.node": np.array([0.0, 1.0])},
        {"names.end": np.array([2, 1])},
        {"names.end": np.array([-1, 2])},
        {"names.end": np.array([1, 3])},
        {"names.end": np.array([[1, 2]])},
        {"names.text": np.frombuffer(b"\xff\xfe", dtype=np.uint8)},
        {"names.text": np.array([97, 98])},
        {"features.weight": np.ones(3)},
        {"features.weight": np.ones(3), "features.mean": np.ones((3, 2)), "features.sse": np.ones(3)},
        {"features.weight": np.zeros(4), "features.mean": np.ones((4, 2)), "features.sse": np.zeros(4)},
    ],
    ids=str,
)
def test_wrong_dendrograms_are_refused(path, change):
    names = {"names.node": np.array([0, 6]), "names.end": np.array([1, 2]), "names.text": np.array([97, 98], np.uint8)}
    good = {"Z": Z, "prototypes": np.array([0, 1, 2]), **names}
    path.write_bytes(file_of("dendrogram", {}, good))
    assert sb.load(path).names == {0: "a", 6: "b"}
    assert_refused(path, "dendrogram", {}, good | change)


def model_content():
    """The content of a model file with every optional part."""
    _, values, arrays = content_of(sb.Betula(4, linkage="minimax", refine=1, max_leaves=10).fit(X))
    return copy.deepcopy(values), dict(arrays)


MODEL = model_content()
LEAVES = len(MODEL[1]["leaf_labels"])


@pytest.mark.parametrize("key", ["parameters", "n_features", "feature_names", "tree"])
def test_a_model_with_a_key_missing_is_refused(path, key):
    values, arrays = model_content()
    del values[key]
    assert_refused(path, "model", values, arrays)


@pytest.mark.parametrize("name", [name for name in MODEL[1] if name != "prototypes"])
def test_a_model_with_an_array_missing_is_refused(path, name):
    values, arrays = model_content()
    del arrays[name]
    assert_refused(path, "model", values, arrays)


@pytest.mark.parametrize(
    "change",
    [
        {"parameters": {}},
        {"parameters": None},
        {"parameters": {"colour": "red"}},
        {"parameters": {"n_jobs": None, "linkage": "wort"}},
        {"parameters": {"n_jobs": None, "n_clusters": 0}},
        {"parameters": {"n_jobs": None, "max_leaves": -1}},
        {"parameters": {"n_jobs": None, "n_clusters": "x" * 10_000}},
        {"parameters": {"n_jobs": None, "red \x1b[31m \ud800 \n": 1}},
        {"parameters": {"n_jobs": 0}},
        {"parameters": {"n_jobs": "all"}},
        {"n_features": 4},
        {"n_features": 3.0},
        {"n_features": "three"},
        {"feature_names": ["a", "b"]},
        {"feature_names": [1, 2, 3]},
        {"feature_names": "abc"},
        {"tree": None},
        {"tree": []},
        {"tree": {"levels": 0}},
        {"tree": {"parameters": {}, "levels": 0}},
        {"made_by": "ward"},
        {"made_by": ["ward", "linkage"]},
        {"made_by": ["wort", "linkage", "auto"]},
        {"made_by": ["ward", "linking", "auto"]},
        {"made_by": ["ward", "linkage", "fast"]},
        {"made_by": [["ward"], {}, None]},
        {"made_by": None},
        {"cut": None},
        {"cut": {}},
        {"cut": {"colour": 1}},
        {"cut": {"method": "guess"}},
        {"cut": {"method": ["eom"]}},
        {"cut": {"min_size": -1}},
        {"cut": {"max_size": "large"}},
        {"cut": {"noise": "yes"}},
    ],
    ids=lambda change: json.dumps(change)[:60],
)
def test_a_model_with_wrong_values_is_refused(path, change):
    values, arrays = model_content()
    assert_refused(path, "model", values | change, arrays)


@pytest.mark.parametrize(
    "change",
    [
        {"leaf_labels": np.zeros(LEAVES + 1, np.int64)},
        {"leaf_labels": np.zeros(LEAVES)},
        {"leaf_labels": np.zeros((LEAVES, 1), np.int64)},
        {"leaf_labels": np.ones(LEAVES, np.int64)},
        {"leaf_labels": np.full(LEAVES, -2)},
        {"leaf_labels": np.arange(LEAVES) * 2},
        {"leaf_labels": np.arange(LEAVES) + 2**60},
        {"labelled.rows": np.zeros(LEAVES)},
        {"labelled.rows": np.full(LEAVES, -1)},
        {"labelled.rows": np.zeros(LEAVES, np.int64)},
        {"labelled.rows": np.ones(LEAVES + 1, np.int64)},
        {"labelled.weight": np.zeros(LEAVES)},
        {"labelled.mean": np.ones((LEAVES, 2))},
        {"refined.weight": np.zeros(LEAVES)},
        {"refined.weight": np.ones(LEAVES + 1)},
        {"refined.mean": np.ones((LEAVES, 2))},
        {"Z": np.empty((0, 4))},
        {"Z": Z},
        {"prototypes": np.full(LEAVES - 1, LEAVES)},
    ],
    ids=lambda change: (
        f"{next(iter(change))} {next(iter(change.values())).ravel()[:2]} {next(iter(change.values())).shape}"
    ),
)
def test_a_model_with_wrong_arrays_is_refused(path, change):
    values, arrays = model_content()
    path.write_bytes(file_of("model", values, arrays))
    sb.load(path)
    assert_refused(path, "model", values, arrays | change)


junk = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3) | st.sampled_from(["ward", "linkage", "auto", "centers", "float32"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip


def replaced(value, place, new):
    """The JSON value with one nested value replaced."""
    if not place or not isinstance(value, dict | list) or not value:
        return new
    keys = list(value) if isinstance(value, dict) else range(len(value))
    key = keys[place[0] % len(keys)]
    result = copy.copy(value)
    result[key] = replaced(value[key], place[1:], new)
    return result


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@settings(deadline=None, max_examples=300)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=4), junk)
def test_any_other_value_in_a_model_is_refused_or_harmless(tmp_path_factory, place, new):
    path = tmp_path_factory.mktemp("any") / "any.sb"
    values, arrays = MODEL
    path.write_bytes(file_of("model", replaced(values, place, new), arrays))
    try:
        model = sb.load(path)
    except sb.ModelFileError:
        return
    assert model.set_params(n_jobs=None).predict(X).shape == (len(X),)


@settings(deadline=None, max_examples=300)
@given(st.data())
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_any_other_number_in_the_arrays_of_a_model_is_refused_or_harmless(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("any") / "any.sb"
    values, arrays = MODEL
    name = data.draw(st.sampled_from(sorted(name for name, array in arrays.items() if array.size)))
    array = arrays[name].copy()
    place = data.draw(st.integers(0, array.size - 1))
    array.reshape(-1).view(np.uint8)[place * array.itemsize :][: array.itemsize] = data.draw(
        st.lists(st.integers(0, 255), min_size=array.itemsize, max_size=array.itemsize)
        | st.sampled_from([0, 255]).map(lambda byte: [byte] * array.itemsize)
    )
    path.write_bytes(file_of("model", values, arrays | {name: array}))
    try:
        model = sb.load(path)
    except sb.ModelFileError:
        return
    assert model.predict(X).shape == (len(X),)
    model.partial_fit(X)
