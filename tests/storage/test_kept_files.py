"""Files that released versions wrote are read by this one. `tests/keep_files.py` wrote them."""

import numpy as np
import pandas
import pytest
from scipy.cluster import hierarchy

import keep_files
import silverbirch as sb
from commands import silverbirch
from dendrograms import by_first_occurrence
from keep_files import CLUSTERS, FEATURES, KEPT, NAMES, ROWS
from silverbirch.pipeline.shared_preparation import SharedPreparation
from trees import assert_holds, assert_same_bits, snapshot

GROUPS = np.arange(len(ROWS)) % 3
each_version = pytest.mark.parametrize("folder", sorted(KEPT.iterdir()), ids=lambda folder: folder.name)


def in_order(features):
    return features[np.lexsort(features.mean.T)]


def test_files_of_this_version_are_kept():
    assert KEPT / sb.__version__.rpartition(".")[0] in KEPT.iterdir()


@each_version
def test_all_kept_files_are_tested(folder):
    tested = {
        "features", "tree", "tree-empty", "tree-threads", "dendrogram", "dendrogram-prototypes", "model",
        "model-chunks", "model-refined", "run", "run-features",
        *(["run-cosine"] if folder.name > "0.1" else []),
        *(["run-preparation"] if folder.name > "0.3" else []),
    }  # fmt: skip
    assert {path.stem for path in folder.iterdir()} == tested


def test_the_script_that_keeps_files_works(tmp_path, monkeypatch):
    monkeypatch.setattr(keep_files, "KEPT", tmp_path)
    keep_files.main()
    (folder,) = tmp_path.iterdir()
    assert {path.name for path in folder.iterdir()} == {path.name for path in (KEPT / folder.name).iterdir()}


@each_version
def test_kept_features(folder):
    assert_same_bits(sb.load(folder / "features.sb"), sb.ClusterFeatures(*FEATURES))


@each_version
def test_kept_trees(folder):
    tree = sb.load(folder / "tree.sb")
    rebuilds, threshold = (3, 0.8683402310986428) if folder.name == "0.1" else (4, 0.7754526218043205)
    assert (len(tree), tree.n_rebuilds, tree.n_points) == (19, rebuilds, 60)
    assert tree.threshold == pytest.approx(threshold, rel=1e-12)
    assert (tree.max_leaves, tree.branching, tree.distance) == (20, 4, "ward")
    assert_holds(tree.features, ROWS)
    assert_holds(tree.insert(ROWS).features, np.concatenate([ROWS, ROWS]))

    threads = sb.load(folder / "tree-threads.sb")
    assert threads.n_points == 60
    assert_same_bits(in_order(threads.features), in_order(sb.ClusterFeatures(1, ROWS, 0)))
    assert_holds(threads.insert(ROWS).features, np.concatenate([ROWS, ROWS]))

    expected = sb.CFTree(threshold=0.5, max_memory="1MB", distance="average", dtype="float32")
    assert snapshot(sb.load(folder / "tree-empty.sb").insert(ROWS)) == snapshot(expected.insert(ROWS))


@each_version
def test_kept_dendrograms(folder):
    dendrogram = sb.load(folder / "dendrogram.sb")
    np.testing.assert_allclose(dendrogram.Z, hierarchy.linkage(ROWS, "ward"), rtol=1e-12)
    assert_same_bits(dendrogram.features, sb.ClusterFeatures(1, ROWS, 0))
    np.testing.assert_array_equal(dendrogram.cut(3), GROUPS)

    without = sb.load(folder / "dendrogram-prototypes.sb")
    assert without.features is None
    np.testing.assert_array_equal(without.cut(3), GROUPS)
    farthest = np.linalg.norm(ROWS - ROWS[without.prototypes[-1]], axis=1).max()
    assert without.Z[-1, 2] == pytest.approx(farthest)


@each_version
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", ["model", "model-chunks", "model-refined"])
def test_kept_models(folder, name):
    model = sb.load(folder / f"{name}.sb")
    labels = model.predict(ROWS)
    np.testing.assert_array_equal(by_first_occurrence(labels), GROUPS)
    assert model.n_clusters_ == 3
    assert_holds(model.features_, ROWS)
    means = [ROWS[labels == k].mean(axis=0) for k in range(3)]
    np.testing.assert_allclose(model.cluster_centers_, means, rtol=1e-12)
    np.testing.assert_array_equal(model.subcluster_labels_, model.dendrogram_.cut(3))  # 0.1 numbered by the first row

    np.testing.assert_array_equal(model.recut(n_clusters=1).predict(ROWS), 0)
    assert model.set_params(n_clusters=3).partial_fit(ROWS).tree_.n_points == 120
    np.testing.assert_array_equal(by_first_occurrence(model.predict(ROWS)), GROUPS)


@each_version
def test_kept_models_are_as_they_were(folder):
    model = sb.load(folder / "model.sb")
    assert model.feature_names_in_.tolist() == NAMES
    assert (model.n_clusters, model.max_leaves, model.linkage) == (3, None, "ward")
    heights = hierarchy.linkage(ROWS, "ward")[:, 2]
    np.testing.assert_allclose(model.linkage_matrix_[:, 2], heights, rtol=1e-12)
    refined = sb.load(folder / "model-refined.sb")
    assert (refined.n_jobs, refined.max_memory, refined.refine) == (-1, "1MB", 1)
    assert not hasattr(refined, "labels_")


@each_version
def test_kept_models_know_their_rows_names_and_cuts_since_0_3(folder):
    if folder.name < "0.3":
        assert not sb.load(folder / "model.sb").clusters_.labelled
        return
    model, refined = sb.load(folder / "model.sb"), sb.load(folder / "model-refined.sb")
    assert model.clusters_.name == tuple(CLUSTERS)
    assert refined._cut_options == {"min_size": 2}
    for one in (model, refined):
        assert one.clusters_.labelled
        assert one.clusters_.rows.tolist() == [20, 20, 20]
    assert not sb.load(folder / "model-chunks.sb").clusters_.labelled


@pytest.mark.parametrize("path", sorted(KEPT.glob("*/run-cosine.sb")), ids=lambda path: path.parent.name)
def test_kept_models_of_directions_have_cosine_heights(path):
    model = sb.load(path)
    rows = ROWS[1:]  # the first row has no direction
    height = 0.1**2 / 2 if path.parent.name == "0.2" else 0.1  # 0.2 had Euclidean heights on unit rows
    expected = sb.Betula(distance_threshold=height, metric="cosine", linkage="average").fit(rows)
    assert model.metric == "cosine"
    np.testing.assert_allclose(model.linkage_matrix_[:, 2], expected.linkage_matrix_[:, 2], atol=1e-12)
    np.testing.assert_array_equal(model.predict(rows), expected.labels_)
    assert 1 < model.n_clusters_ < len(rows)


@each_version
def test_kept_runs_of_the_command_line(folder, tmp_path):
    scaled = (ROWS - ROWS.mean(axis=0)) / ROWS.std(axis=0)
    model = sb.load(folder / "run.sb")
    labels = model.predict(pandas.DataFrame(ROWS, columns=NAMES))
    np.testing.assert_array_equal(by_first_occurrence(labels), GROUPS)
    assert_holds(sb.ClusterFeatures.load(folder / "run.sb"), scaled)
    assert_holds(sb.load(folder / "run-features.sb"), scaled)

    pandas.DataFrame(ROWS, columns=NAMES).to_csv(tmp_path / "rows.csv", index=False)
    command = ["cut", folder / "run.sb", tmp_path / "rows.csv", "-k", 3, "--labels", tmp_path / "labels.npy"]
    assert silverbirch(*command).exit_code == 0
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), labels)
    both = [folder / "run-features.sb"] * 2
    assert silverbirch("merge", *both, "-o", tmp_path / "both.sb", "--allow-overlap").exit_code == 0
    assert sb.load(tmp_path / "both.sb").weight.sum() == 2 * len(ROWS)


@each_version
def test_kept_files_of_the_same_rows_are_not_merged_unless_told(folder, tmp_path):
    for second in ("run.sb", "run-features.sb"):
        merged = silverbirch("merge", folder / "run-features.sb", folder / second, "-o", tmp_path / "both.sb")
        assert merged.exit_code == 1
        assert ("is given twice" if second == "run-features.sb" else "both hold the rows of rows.csv") in merged.stderr


def test_a_preparation_is_kept_and_says_how_rows_are_prepared(tmp_path, monkeypatch):
    monkeypatch.setattr(keep_files, "KEPT", tmp_path)
    monkeypatch.setattr(sb, "__version__", "0.4.0")
    keep_files.main()
    for path in [*tmp_path.glob("*/run-preparation.sb"), *KEPT.glob("*/run-preparation.sb")]:
        shared = SharedPreparation.read(path)
        assert shared.state.columns == tuple(NAMES)
        prepared = shared.completed()
        assert (prepared.missing, prepared.scale, prepared.metric) == ("mean", "standard", "euclidean")
        np.testing.assert_allclose(prepared.fill, ROWS.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(1 / prepared.factor, ROWS.std(axis=0), rtol=1e-12)
