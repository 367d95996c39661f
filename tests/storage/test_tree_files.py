"""Files of trees: the same bits are read back, and files without a complete tree are refused."""

import copy
import pickle

import numpy as np
import pytest

import silverbirch as sb
from model_files import file_of
from silverbirch.storage import container
from silverbirch.storage.tree import from_file, parameters_of, to_file
from trees import random_rows as rows
from trees import snapshot


def small_tree():
    return sb.CFTree(max_leaves=12, branching=3).insert(rows(60))


def by_file(tree, path):
    tree.save(path)
    return sb.CFTree.load(path)


COPIES = {
    "file": by_file,
    "pickle": lambda tree, _: pickle.loads(pickle.dumps(tree)),
    "deepcopy": lambda tree, _: copy.deepcopy(tree),
}
each_copy = pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES.keys())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "tree.sb"


# --- round trips


@each_copy
@pytest.mark.parametrize("dimensions", [1, 5])
@pytest.mark.parametrize("count", [1, 10, 3000])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"max_leaves": 40, "branching": 2},
        {"max_memory": "50kB", "distance": "centroid", "absorption": "diameter"},
        {"threshold": 0.3, "branching": 9, "dtype": "float32"},
    ],
    ids=str,
)
def test_a_copy_has_the_same_bits_and_goes_on_to_the_same_bits(copied, parameters, count, dimensions, path):
    tree = sb.CFTree(**parameters).insert(rows(count, dimensions))
    again = copied(tree, path)
    assert snapshot(again) == snapshot(tree)
    assert parameters_of(again) == parameters_of(tree)

    more, weight = rows(2000, dimensions, seed=1), np.random.default_rng(2).integers(0, 4, 2000)
    for one in (tree, again):
        one.insert(more, weight)
    assert snapshot(again) == snapshot(tree)
    np.testing.assert_array_equal(again.assign(more), tree.assign(more))


@each_copy
@pytest.mark.parametrize(
    "make",
    [
        lambda: sb.CFTree(threshold=0.25, max_leaves=7),
        lambda: sb.CFTree(threshold=0.25, max_leaves=7).insert(rows(), np.zeros(300)),
    ],
    ids=["no rows", "rows of weight zero"],
)
def test_an_empty_tree_comes_back_empty(copied, make, path):
    again = copied(make(), path)
    assert snapshot(again) == snapshot(make())
    assert parameters_of(again) == parameters_of(make())
    assert snapshot(again.insert(rows())) == snapshot(make().insert(rows()))


@each_copy
@pytest.mark.parametrize("scale", [1e-100, 1e50, 1e99])
@pytest.mark.parametrize("threshold", [0.0, 1.0])
def test_a_tree_of_any_scale_comes_back(copied, scale, threshold, path):
    tree = sb.CFTree(max_leaves=5, threshold=threshold * scale).insert(scale * np.clip(rows(), -1, 1))
    assert snapshot(copied(tree, path)) == snapshot(tree)


@each_copy
def test_a_copy_lives_on_its_own(copied, path):
    tree = small_tree()
    before = snapshot(tree)
    copied(tree, path).insert(rows(50, seed=7))
    assert snapshot(tree) == before


def test_saving_replaces_the_old_file_and_leaves_nothing_else(path):
    small_tree().save(path)
    sb.CFTree().insert(rows()).save(path)
    assert len(sb.CFTree.load(path)) == 300
    assert list(path.parent.iterdir()) == [path]


def test_the_same_tree_gives_the_same_bytes_in_the_file(path):
    small_tree().save(path)
    first = path.read_bytes()
    kind, state, arrays = container.read(path)
    expected_state, expected = to_file(small_tree())
    assert (kind, state) == ("tree", expected_state)
    assert {k: a.tobytes() for k, a in arrays.items()} == {k: a.tobytes() for k, a in expected.items()}
    sb.CFTree.load(path).save(path)
    assert path.read_bytes() == first


def test_paths_may_be_strings(path):
    assert snapshot(by_file(small_tree(), str(path))) == snapshot(small_tree())


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_what_others_keep_in_the_file_is_left_alone(path, n_jobs):
    tree = sb.CFTree(max_leaves=300, n_jobs=n_jobs).insert(rows(3000))
    state, arrays = to_file(tree)
    container.write(path, "tree", state | {"run": {"rows": 5}}, arrays | {"run.center": np.ones(2)})
    assert snapshot(sb.CFTree.load(path)) == snapshot(tree)
    assert snapshot(from_file(*container.read(path)[1:])) == snapshot(tree)
    assert container.read(path)[1]["run"] == {"rows": 5}


# --- damage


def test_a_flipped_byte_in_an_array_is_refused(path):
    tree = sb.CFTree().insert(rows())
    tree.save(path)
    content = bytearray(path.read_bytes())
    place = content.index(tree.features.mean.tobytes()[:16]) + 1000
    content[place] ^= 0x10
    path.write_bytes(content)
    with pytest.raises(sb.ModelFileError, match=r"tree.sb is not a whole silverbirch file: its checksum is wrong"):
        sb.CFTree.load(path)


def test_objects_in_a_file_are_never_unpickled(path):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("a pickle in the file was run",))

    state, arrays = to_file(small_tree())
    with pytest.raises(TypeError, match=r"0.0.weight holds object"):
        container.write(path, "tree", state, arrays | {"0.0.weight": np.array([Bomb()], dtype=object)})
    path.write_bytes(
        file_of("tree", state, arrays | {"0.0.weight": np.frombuffer(pickle.dumps(small_tree()), np.uint8)})
    )
    with pytest.raises(sb.ModelFileError, match=r"does not hold a whole tree"):
        sb.CFTree.load(path)


def test_a_file_of_another_kind_is_refused(path):
    container.write(path, "forest", *to_file(small_tree()))
    with pytest.raises(sb.ModelFileError, match=r"tree.sb holds a forest, not a tree"):
        sb.CFTree.load(path)


# --- files that are whole but do not hold a tree


def hostile(path, change_header=None, change_arrays=None):
    header, arrays = to_file(small_tree())
    header, arrays = copy.deepcopy(header), {name: a.copy() for name, a in arrays.items()}
    for change, target in ((change_header, header), (change_arrays, arrays)):
        if callable(change):
            change(target)
        elif change:
            target.update(change)
    path.write_bytes(file_of("tree", header, arrays))
    return path


def assert_refused(path, match=r"tree.sb does not hold a whole tree: ."):
    with pytest.raises(sb.ModelFileError, match=match):
        sb.CFTree.load(path)


def test_the_hostile_files_start_from_a_tree_of_several_levels(path):
    assert to_file(small_tree())[0]["parts"][0]["levels"] > 2
    assert snapshot(sb.CFTree.load(hostile(path))) == snapshot(small_tree())


@pytest.mark.parametrize("key", ["parameters", "parts", "interval", "squared_threshold", "rebuilds", "points"], ids=str)
def test_a_header_with_a_key_missing_is_refused(path, key):
    assert_refused(hostile(path, change_header=lambda header: header.pop(key)))


@pytest.mark.parametrize("name", ["count", "weight", "mean", "sse"])
@pytest.mark.parametrize("level", [0, 1])
def test_an_array_missing_is_refused(path, level, name):
    assert_refused(hostile(path, change_arrays=lambda arrays: arrays.pop(f"0.{level}.{name}")))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("parts", None),
        ("parts", [None]),
        ("interval", None),
        ("interval", [0, 0, 0, 0]),  # the next row would divide the space
        ("interval", [0, 5000, 0, 0]),
        ("interval", [0, 2**63, 0, 0]),
        ("squared_threshold", -1.0),
        ("squared_threshold", "wide"),
        ("rebuilds", -1),
        ("rebuilds", 1.5),
        ("rebuilds", 10**30),
        ("points", -1.0),
        ("points", "many"),
        ("parameters", None),
        ("parameters", []),
        ("parameters", {"colour": "red"}),
        ("parameters", {"distance": "euclidean"}),
        ("parameters", {"max_leaves": -1}),
        ("parameters", {"branching": 2}),  # the stored nodes have more entries
        ("parameters", {"branching": 2**40}),
        ("parameters", {"branching": 2**64}),
        ("parameters", {"dtype": "object"}),
        ("parameters", {"max_memory": 1}),
    ],
)
def test_a_wrong_header_is_refused(path, key, value):
    assert_refused(hostile(path, change_header={key: value}))


@pytest.mark.parametrize("levels", [1, 99, 10**30, -1, 2.0, "three", [1], None])
def test_a_wrong_number_of_levels_is_refused(path, levels):
    assert_refused(hostile(path, change_header=lambda header: header["parts"][0].update(levels=levels)))


@pytest.mark.parametrize("key", ["squared_threshold", "points"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_refused_with_the_header(path, key, value):
    assert_refused(
        hostile(path, {key: value}), r"tree.sb is not a whole silverbirch file: its header has (NaN|Infinity)"
    )


def last_level(arrays):
    return max(int(name.split(".")[1]) for name in arrays if name.endswith(".count"))


def set_entry(name, value, level=0):
    def change(arrays):
        array = arrays[f"0.{last_level(arrays) if level < 0 else level}.{name}"]
        array[(-1,) * array.ndim] = value

    change.__name__ = f"{name} {value} in level {level}"
    return change


def replace(name, value, level=0):
    return {f"0.{level}.{name}": value}


@pytest.mark.parametrize(
    "change",
    [
        set_entry("count", 0, level=0),
        set_entry("count", 0, level=1),
        set_entry("count", 0, level=-1),
        set_entry("count", 2**32 - 1, level=0),
        set_entry("count", 2**32 - 1, level=-1),
        set_entry("weight", -1.0),
        set_entry("weight", np.nan, level=1),
        set_entry("weight", np.inf, level=-1),
        set_entry("weight", 0.0, level=0),
        set_entry("weight", 0.0, level=-1),
        set_entry("mean", np.nan),
        set_entry("mean", np.inf, level=-1),
        set_entry("mean", 1e200, level=1),
        set_entry("sse", -1.0),
        set_entry("sse", np.nan, level=-1),
        replace("count", np.array([], dtype=np.uint32)),
        replace("count", np.array([1, 1], dtype=np.uint32)),
        replace("count", np.array([[2]], dtype=np.uint32)),
        replace("count", np.array([-1])),
        replace("count", np.array([np.nan])),
        replace("weight", np.ones(1)),
        replace("weight", np.array([])),
        replace("weight", np.array(1.0)),
        replace("mean", np.ones((2, 7))),
        replace("mean", np.ones(4)),
        replace("sse", np.ones((2, 1))),
    ],
    ids=lambda change: change.__name__ if callable(change) else str(change),
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_wrong_arrays_are_refused(path, change):
    assert_refused(hostile(path, change_arrays=change))


@pytest.mark.parametrize(
    "change",
    [
        replace("count", np.array(["two"])),
        replace("weight", np.array(["a", "b"])),
        replace("mean", np.ones((2, 2)) * 1j),
    ],
    ids=["text", "texts", "complex"],
)
def test_arrays_that_are_no_numbers_are_refused_with_the_header(path, change):
    assert_refused(hostile(path, change_arrays=change), r"not a whole silverbirch file: its array '0.0.\w+' has")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_large_tree_goes_on_to_the_same_bits_through_its_next_rebuild(n_jobs, tmp_path):
    """A sample of the leaves decides the next threshold: the same sample, whether or not the tree was stored."""
    random = np.random.default_rng(2)
    first, second = random.normal(size=(9_000, 2)), random.normal(size=(9_000, 2))
    tree = sb.CFTree(max_leaves=6_000, n_jobs=n_jobs).insert(first)
    tree.save(tmp_path / "tree.sb")
    rebuilds = tree.n_rebuilds
    again = sb.CFTree.load(tmp_path / "tree.sb").insert(second)
    tree.insert(second)
    assert tree.n_rebuilds > rebuilds
    again.save(tmp_path / "again.sb")
    tree.save(tmp_path / "tree.sb")
    assert (tmp_path / "again.sb").read_bytes() == (tmp_path / "tree.sb").read_bytes()
