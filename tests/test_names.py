"""What type checkers see: the names that the core knows, and the types of all public results."""

import inspect
import pickle
from typing import Any, get_args

import numpy as np
import pytest
from scipy.spatial.distance import pdist

import silverbirch as sb
from silverbirch import checks, directions, names

ON_BOOLEANS = {"dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"}


@pytest.mark.parametrize(
    ("literal", "known"),
    [
        (names.CFDistance, checks.CF_DISTANCES),
        (names.Absorption, checks.ABSORPTIONS),
        (names.LinkageName, checks.LINKAGES),
        (names.Mode, checks.MODES),
        (names.ModelMetric, directions.METRICS),
        (names.Algorithm, checks.ALGORITHMS),
    ],
)
def test_each_literal_has_the_names_of_the_core(literal, known):
    assert sorted(get_args(literal)) == sorted(known)


@pytest.mark.parametrize("metric", get_args(names.Metric))
def test_scipy_knows_each_metric(metric):
    pdist(np.random.default_rng(0).integers(0, 2, size=(9, 3)).astype(bool if metric in ON_BOOLEANS else float), metric)


def test_the_package_itself_can_be_pickled():
    """Dask, Spark and joblib send functions of notebooks to workers with the modules that they name, by cloudpickle."""
    assert pickle.loads(pickle.dumps(sb)) is sb


def public_results():
    """(name, what it returns) of each public function, method and property."""
    for name in sb.__all__:
        thing = getattr(sb, name)
        if not inspect.isclass(thing):
            yield name, inspect.signature(thing).return_annotation
            continue
        members = {key: value for cls in reversed(thing.__mro__) for key, value in ours(cls).items()}
        for key, value in members.items():
            value = getattr(value, "__func__", getattr(value, "fget", getattr(value, "func", value)))
            if not key.startswith("_") and inspect.isfunction(value):
                yield f"{name}.{key}", inspect.signature(value).return_annotation


def ours(cls):
    return vars(cls) if cls.__module__.startswith("silverbirch") else {}


RESULTS = dict(public_results())


def test_every_public_result_has_a_type_and_none_is_any():
    assert {
        "linkage",
        "load",
        "Dendrogram.sse",
        "Dendrogram.weights",
        "CFTree.load",
        "Betula.labels_",
    } <= RESULTS.keys()
    assert [name for name, result in RESULTS.items() if result in ("Any", Any, inspect.Signature.empty)] == []
