"""The public names, their signatures and the imports of the package are pinned: a change is a decision."""

import importlib.resources
import inspect
import subprocess
import sys

import numpy as np
import pytest

import silverbirch as sb

NAMES = [
    "AgglomerativeClustering",
    "Betula",
    "CFTree",
    "ClusterFeatures",
    "Dendrogram",
    "MemoryLimitError",
    "ModelFileError",
]
NAMES += ["clustermap", "dendrogram", "explore", "leaf_order", "linkage", "load", "read_chunks", "write_report"]
REQUIRED = inspect.Parameter.empty
ADAPTIVE = {"method": "level", "min_size": None, "max_size": None, "noise": False}  # options of a cut

# Name → parameters by position, then by keyword only.
SIGNATURES = {
    "linkage": (
        {"y": REQUIRED, "method": "single", "metric": "euclidean", "optimal_ordering": False},
        {"weights": None, "mode": "linkage", "algorithm": "auto", "n_jobs": None, "progress": False, "device": None},
    ),
    "leaf_order": (
        {"Z": REQUIRED, "y": REQUIRED, "exact": None},
        {"metric": "euclidean", "n_jobs": None, "progress": False},
    ),
    "read_chunks": (
        {"source": REQUIRED},
        {
            "columns": None,
            "numeric_only": False,
            "id_column": None,
            "keep": None,
            "weight_column": None,
            "times": False,
            "chunk_rows": None,
            "format": None,
            "separator": None,
            "decimal": ".",
            "header": True,
            "encoding": None,
            "comment": None,
        },
    ),
    "ClusterFeatures": ({"weight": REQUIRED, "mean": REQUIRED, "sse": REQUIRED}, {}),
    "ClusterFeatures.merged_with": ({"self": REQUIRED, "other": REQUIRED}, {}),
    "ClusterFeatures.total": ({"self": REQUIRED}, {}),
    "CFTree": (
        {
            "threshold": 0.0,
            "max_leaves": None,
            "max_memory": None,
            "distance": "ward",
            "absorption": "radius",
            "branching": None,
            "dtype": None,
            "n_jobs": None,
        },
        {},
    ),
    "CFTree.insert": ({"self": REQUIRED, "X": REQUIRED, "weight": None}, {"progress": None}),
    "CFTree.merge": ({"self": REQUIRED, "tree": REQUIRED}, {"progress": None}),
    "CFTree.assign": ({"self": REQUIRED, "X": REQUIRED}, {"n_jobs": None, "progress": None}),
    "CFTree.save": ({"self": REQUIRED, "path": REQUIRED}, {}),
    "CFTree.load": ({"path": REQUIRED}, {}),
    "ClusterFeatures.save": ({"self": REQUIRED, "path": REQUIRED}, {}),
    "ClusterFeatures.load": ({"path": REQUIRED}, {}),
    "Dendrogram.save": ({"self": REQUIRED, "path": REQUIRED}, {}),
    "Dendrogram.load": ({"path": REQUIRED}, {}),
    "Betula.save": ({"self": REQUIRED, "path": REQUIRED}, {}),
    "Betula.load": ({"path": REQUIRED}, {}),
    "load": ({"path": REQUIRED}, {}),
    "Betula": (
        {"n_clusters": None},
        {
            "distance_threshold": None,
            "linkage": "ward",
            "metric": "euclidean",
            "projection": None,
            "max_leaves": 25_000,
            "max_memory": None,
            "threshold": 0.0,
            "distance": None,
            "absorption": None,
            "mode": "linkage",
            "algorithm": "auto",
            "refine": 0,
            "forget": None,
            "n_jobs": None,
            "progress": False,
            "device": None,
        },
    ),
    "AgglomerativeClustering": (
        {"n_clusters": 2},
        {
            "metric": "euclidean",
            "memory": None,
            "connectivity": None,
            "compute_full_tree": "auto",
            "linkage": "ward",
            "distance_threshold": None,
            "compute_distances": False,
            "n_jobs": None,
            "progress": False,
        },
    ),
    "AgglomerativeClustering.fit": ({"self": REQUIRED, "X": REQUIRED, "y": None}, {}),
    "Betula.fit": ({"self": REQUIRED, "X": REQUIRED, "y": None, "sample_weight": None}, {}),
    "Betula.partial_fit": ({"self": REQUIRED, "X": None, "y": None, "sample_weight": None}, {}),
    "Betula.predict": ({"self": REQUIRED, "X": REQUIRED}, {}),
    "Betula.transform": ({"self": REQUIRED, "X": REQUIRED}, {}),
    "Betula.cut": ({"self": REQUIRED, "n_clusters": None, "height": None}, {"X": None, **ADAPTIVE}),
    "Betula.recut": ({"self": REQUIRED, "n_clusters": None}, {"distance_threshold": None, "height": None, **ADAPTIVE}),
    "Betula.choose_k": ({"self": REQUIRED, "k_max": 50}, {}),
    "Betula.name_clusters": ({"self": REQUIRED, "names": REQUIRED}, {}),
    "Betula.representatives": ({"self": REQUIRED, "X": REQUIRED, "n": 3}, {}),
    "Betula.score": ({"self": REQUIRED, "X": REQUIRED, "y": None, "sample_weight": None}, {}),
    "write_report": (
        {"path": REQUIRED, "model": REQUIRED},
        {
            "title": "silverbirch report",
            "record": None,
            "column_names": None,
            "inverse_transform": None,
            "rows": None,
            "show": None,
            "coordinates": None,
            "suggest": None,
            "force": False,
        },
    ),
    "Dendrogram": ({"Z": REQUIRED, "features": None}, {"names": None}),
    "Dendrogram.cut": (
        {"self": REQUIRED, "n_clusters": None, "height": None},
        ADAPTIVE,
    ),
    "Dendrogram.sse": ({"self": REQUIRED, "k": REQUIRED}, {}),
    "Dendrogram.rmsd": ({"self": REQUIRED, "k": REQUIRED}, {}),
    "Dendrogram.cophenetic": ({"self": REQUIRED, "i": None, "j": None}, {}),
    "Dendrogram.ordered": ({"self": REQUIRED, "order": REQUIRED}, {}),
    "Dendrogram.to_newick": ({"self": REQUIRED, "names": None}, {}),
    "Dendrogram.to_networkx": ({"self": REQUIRED}, {}),
    "Dendrogram.plot": (
        {"self": REQUIRED, "ax": None},
        {
            "max_leaves": 40,
            "n_clusters": None,
            "labels": None,
            "clusters": None,
            "orientation": "top",
            "scale": "linear",
            "cut_line": True,
        },
    ),
    "Dendrogram.plot_rmsd": ({"self": REQUIRED, "ax": None}, {"k_max": 2000, "mark": None}),
    "Dendrogram.to_html": (
        {"self": REQUIRED, "path": REQUIRED},
        {"title": "silverbirch dendrogram", "column_names": None, "show": None, "coordinates": None, "suggest": None},
    ),
}


def public(path):
    thing = sb
    for name in path.split("."):
        thing = getattr(thing, name)
    return thing


@pytest.mark.parametrize("path", SIGNATURES)
def test_signatures_are_as_promised(path):
    kinds = inspect.Parameter
    parameters = [p for p in inspect.signature(public(path)).parameters.values() if p.kind != kinds.VAR_KEYWORD]
    expected = [
        (name, kind, default)
        for group, kind in zip(SIGNATURES[path], (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY), strict=True)
        for name, default in group.items()
    ]
    assert [(p.name, p.kind, p.default) for p in parameters] == expected


def test_positional_arguments_of_linkage_are_those_of_scipy():
    from scipy.cluster.hierarchy import linkage

    theirs = list(inspect.signature(linkage).parameters.values())
    ours = list(inspect.signature(sb.linkage).parameters.values())[: len(theirs)]
    assert [(p.name, p.default) for p in ours] == [(p.name, p.default) for p in theirs]


def test_parameters_of_dendrogram_are_those_of_scipy():
    from scipy.cluster.hierarchy import dendrogram

    theirs, ours = (list(inspect.signature(f).parameters.values()) for f in (dendrogram, sb.dendrogram))
    assert [(p.name, p.kind, p.default) for p in ours] == [(p.name, p.kind, p.default) for p in theirs]


def test_parameters_of_agglomerative_clustering_begin_with_those_of_scikit_learn():
    from sklearn.cluster import AgglomerativeClustering

    theirs = list(inspect.signature(AgglomerativeClustering).parameters.values())
    ours = list(inspect.signature(sb.AgglomerativeClustering).parameters.values())[: len(theirs)]
    assert [(p.name, p.kind, p.default) for p in ours] == [(p.name, p.kind, p.default) for p in theirs]


@pytest.mark.parametrize("name", ["features", "threshold", "n_rebuilds", "n_points"])
def test_the_tree_tells_its_state_by_properties(name):
    assert isinstance(inspect.getattr_static(sb.CFTree, name), property)


FITTED = [
    "labels_", "n_clusters_", "features_", "linkage_matrix_", "dendrogram_", "subcluster_centers_",
    "subcluster_labels_", "cluster_centers_", "clusters_", "threshold_", "n_features_in_",
]  # fmt: skip


@pytest.mark.parametrize("name", FITTED)
def test_fitted_attributes_are_there_after_fit_and_only_then(name):
    assert not hasattr(sb.Betula(), name)
    assert hasattr(sb.Betula().fit([[0.0], [1.0]]), name)


def test_public_names_are_those_of_all_and_dir():
    assert sorted(sb.__all__) == NAMES
    assert sorted({*dir(sb)} - {"__version__"}) == NAMES
    assert all(getattr(sb, name).__doc__ for name in NAMES)
    namespace = {}
    exec("from silverbirch import *", namespace)
    assert {*namespace} - {"__builtins__"} == {*NAMES}


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Birch'"):
        sb.Birch  # noqa: B018


def test_the_package_docstring_names_all_that_is_public():
    assert [name for name in NAMES if name not in sb.__doc__] == []


@pytest.mark.parametrize("name", ["MemoryLimitError", "ModelFileError"])
def test_own_errors_are_value_errors(name):
    assert issubclass(getattr(sb, name), ValueError)


def loaded_by(code):
    report = "\nimport sys; print(*{m.partition('.')[0] for m in sys.modules})"
    result = subprocess.run([sys.executable, "-c", code + report], check=True, capture_output=True, text=True)
    return set(result.stdout.split())


OPTIONAL = {"scipy", "sklearn", "matplotlib", "pandas", "networkx", "dask", "pyarrow", "narwhals", "polars"}


@pytest.mark.parametrize(
    "code",
    [
        "import silverbirch as sb; sb.CFTree",
        "import silverbirch as sb; tree = sb.CFTree(max_leaves=2); tree.insert([[0.0], [1.0], [5.0]]).features",
        "import silverbirch as sb; sb.Dendrogram(sb.linkage([[0.0], [1.0], [5.0]], 'ward')).cut(2)",
    ],
)
def test_importing_aggregating_and_clustering_load_numpy_alone(code):
    loaded = loaded_by(code)
    assert "numpy" in loaded
    assert loaded & OPTIONAL == set()


@pytest.mark.parametrize("code", ["import silverbirch", "import silverbirch as sb; sb.Betula(2).fit([[0.0], [1.0]])"])
def test_a_program_that_ends_prints_nothing(code):
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stderr == b""


def test_the_estimator_loads_scikit_learn_when_asked_for():
    assert "sklearn" in loaded_by("import silverbirch; silverbirch.Betula")


def test_the_package_is_marked_as_typed():
    assert importlib.resources.files("silverbirch").joinpath("py.typed").is_file()


def test_the_example_of_the_contract_runs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    X_new, chunk_1, chunk_2, w = X[:10], X[:1000], X[1000:], rng.integers(1, 3, 1000)

    Z = sb.linkage(X, "ward")
    model = sb.Betula(n_clusters=500).fit(X)
    assert len(np.unique(model.labels_)) == 500
    assert model.linkage_matrix_.shape == Z.shape == (1999, 4)
    np.testing.assert_array_equal(model.predict(X_new), model.labels_[:10])

    tree = sb.CFTree(max_leaves=25_000)
    tree.insert(chunk_1)
    tree.insert(chunk_2, weight=w)
    features = tree.features
    Z = sb.linkage(features, "ward")
    dendrogram = sb.Dendrogram(Z, features)
    assert len(np.unique(dendrogram.cut(n_clusters=500))) == 500
    assert features.weight.sum() == tree.n_points == dendrogram.weights[-1] == 1000 + w.sum()
