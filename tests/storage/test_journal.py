"""The journal of a pass: numbers that a checkpoint knows of come back, what was written later does not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from silverbirch.storage.journal import Journal

NUMBERS = np.array([5, -1, 0, 2**31 - 1])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state.sb.leaves"


def written(path, *parts):
    """A journal of these parts; returns its state after the last part."""
    journal = Journal(path)
    journal.begin()
    for part in parts:
        journal.append(np.asarray(part))
    return journal.state()


@settings(max_examples=25)
@given(
    st.lists(st.lists(st.integers(-1, 2**31 - 1), min_size=1, max_size=20), min_size=1, max_size=8),
    st.data(),
)
def test_a_resumed_journal_returns_what_was_stored_and_continues(tmp_path_factory, parts, data):
    path = tmp_path_factory.mktemp("journal") / "leaves"
    stored = data.draw(st.integers(0, len(parts)))
    state = written(path, *parts[:stored])
    with path.open("ab") as file:
        file.write(data.draw(st.binary(max_size=30)))  # of a chunk that was cut off by the crash

    journal = Journal(path)
    assert journal.resume(state)
    for part in parts[:stored]:
        assert journal.taken(len(part)).tolist() == part
    for part in parts[stored:]:
        assert journal.taken(len(part)) is None
        journal.append(np.array(part))
    assert journal.state()["count"] == sum(map(len, parts))
    assert np.fromfile(path, "<i4").tolist() == [number for part in parts for number in part]


def test_a_file_that_is_missing_short_or_changed_is_not_resumed(path):
    state = written(path, NUMBERS)
    content = path.read_bytes()
    assert Journal(path).resume(state)
    for wrong in (content[:-1], content[:-1] + b"\0", b""):
        path.write_bytes(wrong)
        assert not Journal(path).resume(state)
    path.unlink()
    assert not Journal(path).resume(state)


def test_after_a_refusal_a_new_file_begins(path):
    state = written(path, NUMBERS)
    path.write_bytes(b"\1" * 16)
    journal = Journal(path)
    assert not journal.resume(state)
    journal.begin()
    assert journal.taken(2) is None
    journal.append(NUMBERS)
    assert journal.state() == state


@pytest.mark.parametrize("state", [{}, {"count": 3}, {"count": -1, "checksum": 0}, {"count": 1.5, "checksum": 0}])
def test_a_wrong_state_is_refused(state):
    with pytest.raises((KeyError, TypeError, ValueError)):
        Journal.checked(state)
