"""Files of features, dendrograms and models: the same bits are read back; a part can be loaded from the whole."""

import doctest
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import silverbirch as sb
from model_files import file_of
from models import LINKAGES, groups, points, state
from silverbirch.pipeline.provenance import RunState
from silverbirch.storage import container
from silverbirch.storage.loading import content_of
from trees import assert_same_bits, snapshot

X = groups(400)


def fitted(**parameters):
    return sb.Betula(**{"n_clusters": 4, "max_leaves": 40} | parameters).fit(X)


def chunked(**parameters):
    return sb.Betula(**{"n_clusters": 4, "max_leaves": 40} | parameters).partial_fit(X[:150]).partial_fit(X[150:])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "any.sb"


def by_file(thing, path):
    thing.save(path)
    return type(thing).load(path)


def assert_same_dendrogram(a, b):
    assert a.Z.tobytes() == b.Z.tobytes()
    np.testing.assert_array_equal(a.prototypes, b.prototypes)
    assert (a.features is None) == (b.features is None)
    if a.features is not None:
        assert_same_bits(a.features, b.features)


def assert_same_model(model, again):
    """Compares models without the labels of the rows, which a file does not hold."""
    assert again.get_params() == model.get_params()
    assert state(again, X)[:-1] == state(model, X)[:-1]
    assert_same_dendrogram(again.dendrogram_, model.dendrogram_)
    assert snapshot(again.tree_) == snapshot(model.tree_)


# --- features


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 20), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_features_come_back_to_the_bit(tmp_path_factory, count, dimensions, seed):
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.integers(-50, 50)
    features = sb.ClusterFeatures(
        rng.integers(0, 9, count), scale * rng.normal(size=(count, dimensions)), scale**2 * rng.random(count)
    )
    path = tmp_path_factory.mktemp("features") / "any.sb"
    again = by_file(features, path)
    assert_same_bits(again, features)
    assert_same_bits(sb.load(path), features)


def test_loaded_features_are_frozen(path):
    again = by_file(sb.ClusterFeatures(1, X, 0), path)
    with pytest.raises(ValueError, match="read-only"):
        again.mean[0, 0] = 5


# --- dendrograms


@pytest.mark.parametrize("method", [*LINKAGES, "minimax", "medoid"])
@pytest.mark.parametrize("with_features", [True, False])
def test_a_dendrogram_comes_back_to_the_bit(path, method, with_features):
    rows = points(30)
    dendrogram = sb.Dendrogram(sb.linkage(rows, method), rows if with_features else None)
    again = by_file(dendrogram, path)
    assert_same_dendrogram(again, dendrogram)
    assert_same_dendrogram(sb.load(path), dendrogram)
    np.testing.assert_array_equal(again.cut(5), dendrogram.cut(5))


def test_a_dendrogram_of_one_leaf_comes_back(path):
    for dendrogram in (sb.Dendrogram(np.empty((0, 4))), sb.Dendrogram(np.empty((0, 4)), [[1.0, 2.0]])):
        assert_same_dendrogram(by_file(dendrogram, path), dendrogram)


# --- models

MODELS = {
    "fitted": fitted,
    "in chunks": chunked,
    "not cut": lambda: fitted(n_clusters=None),
    "cut at a height": lambda: fitted(n_clusters=None, distance_threshold=5.0),
    "refined": lambda: fitted(refine=2),
    "all rows": lambda: fitted(max_leaves=None),
    "one leaf": lambda: fitted(max_leaves=1, n_clusters=1),
    "by memory": lambda: fitted(max_memory="50kB", max_leaves=None),
    "threads": lambda: fitted(n_jobs=2, max_leaves=300),
    "float32": lambda: sb.Betula(4, max_leaves=40).fit(X.astype(np.float32)),
    "prototypes": lambda: fitted(linkage="minimax"),
    "aggregation": lambda: fitted(linkage="diameter", mode="aggregation", distance="manhattan", absorption="average"),
    "numpy's numbers": lambda: fitted(n_clusters=np.int64(4), threshold=np.float32(0.5), max_leaves=np.int32(30)),
}
each_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS.keys())


@each_model
def test_a_model_comes_back_and_goes_on_to_the_same_bits(path, make):
    model = make()
    again = by_file(model, path)
    assert_same_model(model, again)
    assert_same_model(model, sb.load(path))

    more = groups(200, seed=5)
    for one in (model, again):
        one.partial_fit(more)
    assert state(again, more) == state(model, more)


@each_model
def test_a_loaded_model_is_cut_again_without_clustering_again(path, make, monkeypatch):
    model = make()
    model.dendrogram_  # noqa: B018  known when it is saved
    again = by_file(model, path)
    clustering = "silverbirch.model.aggregate_model.cluster_features"
    monkeypatch.setattr(clustering, lambda *_, **__: pytest.fail("clustered again"))
    for k in {1, min(3, len(model.features_))}:
        for one in (model, again):
            one.recut(n_clusters=k)
        assert_same_model(model, again)


@each_model
def test_the_same_model_gives_the_same_bytes_and_so_does_a_loaded_one(path, make):
    make().save(path)
    first = path.read_bytes()
    make().save(path)
    assert path.read_bytes() == first
    sb.load(path).save(path)
    assert path.read_bytes() == first


def test_another_linkage_of_a_loaded_model_is_that_of_the_leaves(path):
    again = by_file(fitted(), path).set_params(linkage="average").recut()
    expected = fitted(distance="ward").set_params(linkage="average").recut()
    assert state(again, X)[:-1] == state(expected, X)[:-1]  # without labels_, which are not in the file


def test_a_model_that_was_not_clustered_yet_clusters_after_loading(path):
    model = chunked()
    again = by_file(model, path)
    assert "Z" not in container.read(path)[2]
    assert_same_model(model, again)


def test_the_labels_of_rows_are_not_stored(path):
    model = fitted()
    again = by_file(model, path)
    assert not hasattr(again, "labels_")
    np.testing.assert_array_equal(again.predict(X), model.labels_)


def test_names_of_columns_come_back(path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["é", 'a "b"', "<script>"])
    again = by_file(sb.Betula(4, max_leaves=40).fit(frame), path)
    assert again.feature_names_in_.tolist() == list(frame.columns)
    assert again.feature_names_in_.dtype == object
    again.predict(frame)
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame.rename(columns={"é": "e"}))
    assert not hasattr(by_file(fitted(), path), "feature_names_in_")


def test_a_model_of_more_threads_than_this_machine_has_can_be_loaded(path):
    _, values, arrays = content_of(fitted())
    values["parameters"]["n_jobs"] = -1000
    path.write_bytes(file_of("model", values, arrays))
    assert sb.load(path).n_jobs == -1000


def test_a_class_of_ones_own_comes_back_as_such(path):
    class Mine(sb.Betula):
        pass

    fitted().save(path)
    assert type(Mine.load(path)) is Mine


def test_an_unfitted_model_is_not_saved(path):
    with pytest.raises(NotFittedError):
        sb.Betula().save(path)
    assert not path.exists()


def test_parameters_that_could_not_be_loaded_are_not_saved(path):
    for name, value in {"linkage": "wort", "max_leaves": -1, "n_jobs": 0, "threshold": np.nan}.items():
        with pytest.raises(ValueError, match=f"{name}="):
            fitted().set_params(**{name: value}).save(path)
    assert not path.exists()


def test_what_others_keep_in_the_file_is_left_alone(path):
    for kind, thing in {"model": fitted(), "dendrogram": fitted().dendrogram_, "features": fitted().features_}.items():
        _, values, arrays = content_of(thing)
        container.write(path, kind, *RunState(columns=None, record={"rows": 5}).added_to(values, arrays))
        again = sb.load(path)
        assert type(again) is type(thing)
        again.save(path)
        assert container.read(path)[1:2] == (values,)


# --- a part from a file of the whole


def test_a_file_that_holds_more_is_loaded_as_less(path):
    model = fitted(linkage="medoid")
    model.save(path)
    assert snapshot(sb.CFTree.load(path)) == snapshot(model.tree_)
    assert_same_dendrogram(sb.Dendrogram.load(path), model.dendrogram_)
    assert_same_bits(sb.ClusterFeatures.load(path), model.features_)
    model.tree_.save(path)
    assert_same_bits(sb.ClusterFeatures.load(path), model.features_)
    model.dendrogram_.save(path)
    assert_same_bits(sb.ClusterFeatures.load(path), model.features_)


def test_the_features_of_a_refined_model_are_the_refined_ones(path):
    model = fitted(refine=1)
    model.save(path)
    assert_same_bits(sb.ClusterFeatures.load(path), model.features_)
    assert_same_bits(sb.Dendrogram.load(path).features, model.features_)
    assert_same_bits(sb.CFTree.load(path).features, model.tree_.features)


def test_the_dendrogram_of_a_model_that_was_not_clustered_is_made(path):
    model = chunked()
    model.save(path)
    assert_same_dendrogram(sb.Dendrogram.load(path), model.dendrogram_)


CLASSES = [sb.ClusterFeatures, sb.CFTree, sb.Dendrogram, sb.Betula]


@pytest.mark.parametrize(
    ("make", "text", "loads"),
    [
        (lambda: fitted().features_, "cluster features", ["ClusterFeatures"]),
        (lambda: fitted().tree_, "a tree", ["ClusterFeatures", "CFTree"]),
        (lambda: fitted().dendrogram_, "a dendrogram", ["ClusterFeatures", "Dendrogram"]),
        (fitted, "a model", ["ClusterFeatures", "CFTree", "Dendrogram", "Betula"]),
    ],
    ids=["features", "tree", "dendrogram", "model"],
)
def test_a_file_that_holds_something_else_says_which_load_reads_it(path, make, text, loads):
    thing = make()
    thing.save(path)
    for cls in CLASSES:
        if cls.__name__ in loads:
            assert type(cls.load(path)) is cls
        else:
            with pytest.raises(
                sb.ModelFileError, match=rf"holds {text}, not .*: {type(thing).__name__}.load reads it$"
            ):
                cls.load(path)


def test_a_file_without_features_says_so(path):
    sb.CFTree().save(path)
    with pytest.raises(sb.ModelFileError, match="holds a tree without cluster features"):
        sb.ClusterFeatures.load(path)
    sb.Dendrogram(sb.linkage(X, "ward")).save(path)
    with pytest.raises(sb.ModelFileError, match="holds a dendrogram without cluster features"):
        sb.ClusterFeatures.load(path)


def test_a_kind_that_this_version_does_not_know_is_refused(path):
    container.write(path, "forest", {}, {})
    with pytest.raises(sb.ModelFileError, match="holds a forest, none of features, tree, dendrogram, model"):
        sb.load(path)
    for cls in CLASSES:
        with pytest.raises(sb.ModelFileError, match="holds a forest, not"):
            cls.load(path)


def test_the_page_about_files_shows_what_happens(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).parents[2] / "docs" / "model-files.md"
    result = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert result.failed == 0
    assert result.attempted > 15
    shown = re.sub(r"(?<=\S) {2,}.*", "", page.read_text(encoding="utf-8"))  # without the remarks beside it
    assert Path("features.sb").read_bytes()[8:352].decode().rstrip() in re.sub(r"\s", "", shown)
