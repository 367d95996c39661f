"""Model files: the same bits back, and a clear refusal of everything that is not a whole file."""

import copy
import io
import json
import pickle
import zipfile

import numpy as np
import pytest

import silverbirch as sb
from silverbirch import files
from trees import random_rows as rows
from trees import snapshot


def small_tree():
    return sb.CFTree(max_leaves=12, branching=3).insert(rows(60))


def parameters_of(tree):
    return tree._state()[0]["parameters"]


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


def test_the_same_tree_gives_the_same_arrays_in_the_file(path):
    small_tree().save(path)
    header, arrays = files.read(path, "tree")
    expected_header, expected = small_tree()._state()
    assert {k: header[k] for k in expected_header} == expected_header
    assert {k: a.tobytes() for k, a in arrays.items()} == {k: a.tobytes() for k, a in expected.items()}


def test_paths_may_be_strings(path):
    assert snapshot(by_file(small_tree(), str(path))) == snapshot(small_tree())


# --- damage


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "tree.sb"
    sb.CFTree(branching=2).insert(rows(4, 1)).save(path)
    return path.read_bytes()


def test_a_file_cut_short_anywhere_is_refused(whole, path):
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(sb.ModelFileError, match=r"tree.sb is not a whole silverbirch file"):
            sb.CFTree.load(path)


@pytest.mark.parametrize("flip", [0x01, 0x80, 0xFF])
def test_a_flipped_byte_is_refused_or_harmless(whole, path, flip):
    path.write_bytes(whole)
    expected = snapshot(sb.CFTree.load(path))
    refused, escaped = 0, {}
    directory = whole.index(b"PK\x01\x02")  # the zip's own structure is tried whole, the entries at some places
    places = [*range(flip % 9, directory, 9), *range(directory, len(whole))]
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= flip
        path.write_bytes(damaged)
        try:
            assert snapshot(sb.CFTree.load(path)) == expected, f"byte {place} changed the tree"
        except sb.ModelFileError:
            refused += 1
        except (RuntimeError, MemoryError, ArithmeticError, LookupError, SyntaxError, TypeError, ValueError) as error:
            escaped.setdefault(f"{type(error).__name__}: {error}", place)
    assert escaped == {}
    assert refused > len(places) / 3


def test_a_flipped_byte_in_an_array_is_refused(path):
    tree = sb.CFTree().insert(rows())
    tree.save(path)
    content = bytearray(path.read_bytes())
    place = content.index(tree.features.mean.tobytes()[:16]) + 1000
    content[place] ^= 0x10
    path.write_bytes(content)
    with pytest.raises(sb.ModelFileError, match=r"tree.sb is not a whole silverbirch file: .*CRC"):
        sb.CFTree.load(path)


def archive_with(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def zip_with(**texts):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def header_bytes(value):
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


OTHER_FILES = {
    "empty": b"",
    "text": b"weight,mean,sse\n1,2,3\n",
    "zeros": bytes(1000),
    "a pickle": pickle.dumps({"levels": 0}),
    "an npy": npy(np.ones(3)),
    "an npy of objects": npy(np.array([{}], dtype=object)),
    "an npz of arrays": archive_with(x=np.ones(3)),
    "an npz of objects": archive_with(**{files._HEADER: np.array([{"format": 1}], dtype=object)}),
    "an empty zip": zip_with(),
    "a zip of text": zip_with(**{files._HEADER: "{}"}),
    "a header that is not JSON": archive_with(**{files._HEADER: np.frombuffer(b"{nonsense", dtype=np.uint8)}),
    "a header of another encoding": archive_with(**{files._HEADER: np.frombuffer(b"\xff\xfe{}", dtype=np.uint8)}),
    "a header that is a list": archive_with(**{files._HEADER: header_bytes([1, 2])}),
    "a header that is a number": archive_with(**{files._HEADER: header_bytes(5)}),
    "a header that is nothing": archive_with(**{files._HEADER: header_bytes(None)}),
    "a header nested without end": archive_with(**{files._HEADER: np.frombuffer(b"[" * 200_000, dtype=np.uint8)}),
    "a header without a kind": archive_with(**{files._HEADER: header_bytes({"format": 1})}),
    "a format that is a word": archive_with(**{files._HEADER: header_bytes({"format": "new", "kind": "tree"})}),
    "a format that is nothing": archive_with(**{files._HEADER: header_bytes({"format": None, "kind": "tree"})}),
}


@pytest.mark.parametrize("content", OTHER_FILES.values(), ids=OTHER_FILES.keys())
def test_a_file_that_is_no_model_is_refused(content, path):
    path.write_bytes(content)
    with pytest.raises(sb.ModelFileError, match=r"tree.sb is not a whole silverbirch file"):
        sb.CFTree.load(path)


def test_objects_in_a_file_are_never_unpickled(path):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("a pickle in the file was run",))

    header, arrays = small_tree()._state()
    files.write(path, "tree", header, arrays | {"0.weight": np.array([Bomb()], dtype=object)})
    with pytest.raises(sb.ModelFileError, match=r"not a whole silverbirch file: it is no archive of plain arrays"):
        sb.CFTree.load(path)


def test_a_missing_file_is_not_found(path):
    with pytest.raises(FileNotFoundError):
        sb.CFTree.load(path)


def test_a_file_of_another_kind_is_refused(path):
    files.write(path, "forest", *small_tree()._state())
    with pytest.raises(sb.ModelFileError, match=r"tree.sb holds a forest, not a tree"):
        sb.CFTree.load(path)


def test_a_file_of_a_newer_format_asks_for_an_update(path, monkeypatch):
    monkeypatch.setattr(files, "FORMAT_VERSION", files.FORMAT_VERSION + 1)
    small_tree().save(path)
    monkeypatch.undo()
    with pytest.raises(sb.ModelFileError, match="has format 2, this version reads up to 1: update silverbirch"):
        sb.CFTree.load(path)


def test_a_refused_file_is_a_bad_value():
    assert issubclass(sb.ModelFileError, ValueError)


# --- files that are whole but do not hold a tree


def hostile(path, change_header=None, change_arrays=None, tree=None):
    header, arrays = (small_tree() if tree is None else tree)._state()
    header, arrays = copy.deepcopy(header), {name: a.copy() for name, a in arrays.items()}
    for change, target in ((change_header, header), (change_arrays, arrays)):
        if callable(change):
            change(target)
        elif change:
            target.update(change)
    files.write(path, "tree", header, arrays)
    return path


def assert_refused(path):
    with pytest.raises(sb.ModelFileError, match=r"tree.sb does not hold a whole tree: ."):
        sb.CFTree.load(path)


def test_the_hostile_files_start_from_a_tree_of_several_levels(path):
    assert small_tree()._state()[0]["levels"] > 2
    assert snapshot(sb.CFTree.load(hostile(path))) == snapshot(small_tree())


@pytest.mark.parametrize("key", ["parameters", "levels", "squared_threshold", "rebuilds", "points"], ids=str)
def test_a_header_with_a_key_missing_is_refused(path, key):
    assert_refused(hostile(path, change_header=lambda header: header.pop(key)))


@pytest.mark.parametrize("name", ["count", "weight", "mean", "sse"])
@pytest.mark.parametrize("level", [0, 1])
def test_an_array_missing_is_refused(path, level, name):
    assert_refused(hostile(path, change_arrays=lambda arrays: arrays.pop(f"{level}.{name}")))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("levels", 1),
        ("levels", 99),
        ("levels", 10**30),
        ("levels", -1),
        ("levels", 2.0),
        ("levels", "three"),
        ("levels", [1]),
        ("squared_threshold", -1.0),
        ("squared_threshold", float("nan")),
        ("squared_threshold", float("inf")),
        ("squared_threshold", "wide"),
        ("rebuilds", -1),
        ("rebuilds", 1.5),
        ("rebuilds", 10**30),
        ("points", -1.0),
        ("points", float("nan")),
        ("points", float("inf")),
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


def last_level(arrays):
    return max(int(name.split(".")[0]) for name in arrays)


def set_entry(name, value, level=0):
    def change(arrays):
        array = arrays[f"{last_level(arrays) if level < 0 else level}.{name}"]
        array[(-1,) * array.ndim] = value

    change.__name__ = f"{name} {value} in level {level}"
    return change


def replace(name, value, level=0):
    return {f"{level}.{name}": value}


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
        replace("count", np.array(["two"])),
        replace("weight", np.ones(1)),
        replace("weight", np.array([])),
        replace("weight", np.array(1.0)),
        replace("weight", np.array(["a", "b"])),
        replace("mean", np.ones((2, 7))),
        replace("mean", np.ones(4)),
        replace("mean", np.ones((2, 2)) * 1j),
        replace("sse", np.ones((2, 1))),
    ],
    ids=lambda change: change.__name__ if callable(change) else str(change),
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_wrong_arrays_are_refused(path, change):
    assert_refused(hostile(path, change_arrays=change))
