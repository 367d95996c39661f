"""Fingerprints of inputs: the same rows are recognised, whatever their file is called, and others are not."""

import os

import numpy as np
import pytest

from silverbirch import ModelFileError
from silverbirch.pipeline.sources import (
    abridged,
    checked_fingerprints,
    content_of,
    fingerprint_of,
    from_array,
    refuse_overlap,
    to_array,
    with_contents,
)

MEGABYTE = 1 << 20


@pytest.mark.parametrize("size", [0, 1, 1000, MEGABYTE - 1, MEGABYTE, MEGABYTE + 1, 5 * MEGABYTE])
def test_content_knows_name_and_time_from_bytes(size, tmp_path):
    content = np.random.default_rng(0).bytes(size)
    (tmp_path / "a").write_bytes(content)
    (tmp_path / "b").write_bytes(content)
    os.utime(tmp_path / "b", (0, 0))
    assert content_of(tmp_path / "a") == content_of(tmp_path / "b")
    (tmp_path / "b").write_bytes(content + b"x")
    assert content_of(tmp_path / "a") != content_of(tmp_path / "b")


@pytest.mark.parametrize("place", [0, 1, 70_000, MEGABYTE - 1])
def test_any_byte_of_a_small_file_counts(place, tmp_path):
    content = bytearray(MEGABYTE)
    (tmp_path / "a").write_bytes(content)
    content[place] = 1
    (tmp_path / "b").write_bytes(content)
    assert content_of(tmp_path / "a") != content_of(tmp_path / "b")


@pytest.mark.parametrize("place", [0, 7 * MEGABYTE - 1])
def test_first_and_last_bytes_of_a_large_file_count(place, tmp_path):
    content = bytearray(7 * MEGABYTE)
    (tmp_path / "a").write_bytes(content)
    content[place] = 1
    (tmp_path / "b").write_bytes(content)
    assert content_of(tmp_path / "a") != content_of(tmp_path / "b")


def test_a_pipe_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert content_of(tmp_path / "pipe") is None


def test_a_file_given_twice_is_refused_by_any_of_its_names(tmp_path):
    (tmp_path / "a").write_bytes(b"rows")
    (tmp_path / "copy").write_bytes(b"rows")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    files = [{"name": str(tmp_path / name), "bytes": 4, "mtime_ns": 0} for name in ("a", "copy")]
    assert [file["content"] for file in with_contents(files, allow_overlap=False)] == [content_of(tmp_path / "a")] * 2
    twice = [*files, {"name": str(tmp_path / "link"), "bytes": 4, "mtime_ns": 0}]
    with pytest.raises(ValueError, match="link is given twice"):
        with_contents(twice, allow_overlap=False)
    assert len(with_contents(twice, allow_overlap=True)) == 3


NEW = {"name": "a/rows.csv", "bytes": 9, "mtime_ns": 5, "content": "1"}
OLD = {"name": "b/rows.csv", "bytes": 9, "mtime_ns": 5}


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (NEW, NEW, True),
        (NEW, NEW | {"name": "copy.csv", "mtime_ns": 6}, True),
        (NEW, NEW | {"content": "2"}, False),
        (OLD, OLD, True),
        (OLD, NEW, True),
        (OLD, OLD | {"mtime_ns": 6}, False),
        (OLD, OLD | {"bytes": 8}, False),
        (OLD, OLD | {"name": "b/other.csv"}, False),
        (OLD, NEW | {"mtime_ns": 6}, False),
        (NEW | {"content": None}, NEW, True),
        ({"name": "a", "bytes": 0, "content": None}, {"name": "a", "bytes": 0, "content": None}, False),
    ],
)
def test_an_input_in_two_files_is_named(first, second, same):
    other = {"name": "other.csv", "bytes": 1, "mtime_ns": 1, "content": "3"}
    for one, two in [(first, second), (second, first)]:
        made_of = [("a.sb", (one,)), ("b.sb", (other, two))]
        if same:
            with pytest.raises(ModelFileError, match=rf"a.sb and b.sb both hold the rows of {one['name']}"):
                refuse_overlap(made_of)
        else:
            refuse_overlap(made_of)


def test_equal_inputs_of_one_file_are_no_overlap():
    refuse_overlap([("a.sb", (NEW, NEW)), ("b.sb", ())])


def test_the_fingerprint_of_a_file_is_valid_and_others_are_refused(tmp_path):
    (tmp_path / "a").write_bytes(b"rows")
    assert checked_fingerprints([fingerprint_of(tmp_path / "a"), NEW, OLD])
    for wrong in (None, 3, [3], [[]], [{}], [{"name": "a"}], [NEW | {"bytes": "9"}], [NEW | {"colour": 1}]):
        with pytest.raises((AttributeError, KeyError, TypeError, ValueError)):
            checked_fingerprints(wrong)


def test_fingerprints_in_a_file_are_the_same_and_a_thousand_stand_in_its_header():
    files = [NEW | {"name": f"{number}.csv"} for number in range(1001)]
    assert from_array(to_array(files)) == tuple(files)
    assert abridged(files[:1000]) == files[:1000]
    *first, last = abridged([*files, OLD])
    assert first == files[:1000]
    assert (last["name"], last["files"]) == ("2 more files", 2)
    assert abridged([*files, NEW])[-1] != last  # it still tells other inputs apart
