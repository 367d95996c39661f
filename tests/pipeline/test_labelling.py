"""The labelling pass: interrupted anywhere and resumed, it labels few rows again and gives the same labels."""

from contextlib import suppress

import numpy as np
import pytest

from silverbirch.model import AggregateModel
from silverbirch.model.labelled import LeafCounter
from silverbirch.pipeline.labelling import BothPasses, Labelling, leaves_digest
from silverbirch.pipeline.preparation import Preparation
from silverbirch.rows import read_chunks
from silverbirch.storage.journal import Journal

ROWS, CHUNK = 5000, 256
HOLES = Preparation(missing="drop")


class KilledError(Exception):
    """The end of a process, between two chunks."""


class Collector:
    """A writer that keeps the labels in memory."""

    def __init__(self):
        self.labels = []

    def write(self, labels, kept=None, file=0):
        self.labels += labels.tolist()


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(3)
    X = random.normal(size=(ROWS, 2)) + 9 * random.integers(0, 4, size=(ROWS, 1))
    X[::50, 1] = np.nan
    return X


@pytest.fixture(scope="module")
def model(rows):
    return AggregateModel(4, max_leaves=200).insert(rows[~np.isnan(rows).any(axis=1)])


class Process:
    """One process that labels the rows, and counts those whose leaf it searches."""

    def __init__(self, rows, model, journal, monkeypatch, stored=None):
        self.source = read_chunks(rows, chunk_rows=CHUNK)
        self.model = model
        self.labelling = Labelling(journal)
        if stored is not None:
            self.labelling.resume(*stored)
        self.searched = 0
        self.stored = None
        self.monkeypatch = monkeypatch

    def run(self, stop_after=ROWS + 1, store_every=1):
        out, self.counter, chunks = Collector(), LeafCounter(self.model.features_), 0
        search = AggregateModel._leaf_of

        def counting(model, source, *arguments, **options):
            self.searched += source.n_rows
            return search(model, source, *arguments, **options)

        def after_chunk(done, position):
            nonlocal chunks
            chunks += 1
            if chunks % store_every == 0:
                state, sums = self.labelling.to_state()
                self.stored = state, {name: sum.copy() for name, sum in sums.items()}
            if done >= stop_after:
                raise KilledError

        with self.monkeypatch.context() as patch, suppress(KilledError):
            patch.setattr(AggregateModel, "_leaf_of", counting)
            self.counts = self.labelling.run(
                self.source, HOLES, self.model, out, after_chunk=after_chunk, counter=self.counter
            )
        return out.labels


def undisturbed(rows, model, monkeypatch):
    process = Process(rows, model, None, monkeypatch)
    return process.run(), process.counts, process.counter.result()


@pytest.mark.parametrize("store_every", [1, 3])
@pytest.mark.parametrize("stop_after", [1, 1500, ROWS - 1])
def test_a_resumed_pass_searches_only_rows_after_the_last_checkpoint(
    stop_after, store_every, rows, model, tmp_path, monkeypatch
):
    labels, counts, leaves = undisturbed(rows, model, monkeypatch)
    assert counts == {"labelled": ROWS - 100, "unlabelled": 100}
    first = Process(rows, model, Journal(tmp_path / "leaves"), monkeypatch)
    assert first.run(stop_after, store_every) == labels[: first.searched]
    second = Process(rows, model, Journal(tmp_path / "leaves"), monkeypatch, first.stored)
    assert second.run() == labels
    assert second.counts == counts
    again = first.searched + second.searched - ROWS
    assert 0 <= again < store_every * CHUNK
    found = second.counter.result()
    np.testing.assert_array_equal(found.rows, leaves.rows)
    for own, expected in zip(found.features.arrays(), leaves.features.arrays(), strict=True):
        np.testing.assert_array_equal(own, expected)


def test_a_pass_that_was_resumed_twice_searches_each_row_once(rows, model, tmp_path, monkeypatch):
    labels, *_ = undisturbed(rows, model, monkeypatch)
    stored, searched = None, 0
    for stop_after in (1000, 2000, 4000, ROWS + 1):
        process = Process(rows, model, Journal(tmp_path / "leaves"), monkeypatch, stored)
        found = process.run(stop_after)
        stored, searched = process.stored, searched + process.searched
    assert found == labels
    assert searched == ROWS


def test_another_cut_takes_the_leaves_that_are_known(rows, tmp_path, monkeypatch):
    model = AggregateModel(4, max_leaves=200).insert(rows[~np.isnan(rows).any(axis=1)])
    first = Process(rows, model, Journal(tmp_path / "leaves"), monkeypatch)
    first.run(2000)
    model.recut(2)
    labels, *_ = undisturbed(rows, model, monkeypatch)
    second = Process(rows, model, Journal(tmp_path / "leaves"), monkeypatch, first.stored)
    assert second.run() == labels
    assert first.searched + second.searched == ROWS


@pytest.mark.parametrize("change", ["model", "preparation", "journal"])
def test_leaves_of_another_model_or_a_lost_journal_are_not_taken(change, rows, model, tmp_path, monkeypatch):
    first = Process(rows, model, Journal(tmp_path / "leaves"), monkeypatch)
    first.run(2000)
    if change == "model":
        model = AggregateModel(4, max_leaves=150).insert(rows[~np.isnan(rows).any(axis=1)])
    elif change == "preparation":
        first.stored[0]["leaves"] = leaves_digest(model, Preparation(missing="error"))
    else:
        (tmp_path / "leaves").unlink()
    labels, *_ = undisturbed(rows, model, monkeypatch)
    second = Process(rows, model, Journal(tmp_path / "leaves"), monkeypatch, first.stored)
    assert second.run() == labels
    assert second.searched == ROWS


def test_a_state_that_was_resumed_is_stored_again_before_the_pass_begins(rows, model, tmp_path, monkeypatch):
    first = Process(rows, model, Journal(tmp_path / "leaves"), monkeypatch)
    first.run(2000)
    labelling = Labelling(Journal(tmp_path / "leaves"))
    labelling.resume(*first.stored)
    assert labelling.to_state() == first.stored
    assert labelling.progress == "the label of row 2,048"


def test_a_journal_that_cannot_be_written_does_not_stop_the_pass(rows, model, tmp_path, monkeypatch):
    labels, *_ = undisturbed(rows, model, monkeypatch)
    process = Process(rows, model, Journal(tmp_path / "no folder" / "leaves"), monkeypatch)
    told = []
    process.labelling = Labelling(Journal(tmp_path / "no folder" / "leaves"), told.append)
    assert process.run() == labels
    assert len(told) == 1
    assert "the run goes on" in told[0]
    assert process.stored == ({}, {})
    resumed = Labelling(Journal(tmp_path / "leaves"))
    resumed.resume(*process.stored)
    assert resumed.rows == 0


def test_both_passes_are_stored_and_resumed_as_one(rows, model, tmp_path, monkeypatch):
    class Aggregation:
        progress = "row 7"

        def to_state(self):
            return {"rows": 7}, {"a": np.arange(3)}

        def resume(self, state, arrays):
            self.resumed = state["rows"]

    first = Process(rows, model, Journal(tmp_path / "leaves"), monkeypatch)
    both = BothPasses(Aggregation(), first.labelling)
    assert both.progress == "row 7"
    first.run(2000)
    assert both.progress == "the label of row 2,048"
    state, arrays = both.to_state()
    second = Process(rows, model, Journal(tmp_path / "leaves"), monkeypatch)
    aggregation = Aggregation()
    BothPasses(aggregation, second.labelling).resume(state, arrays)
    assert aggregation.resumed == 7
    assert second.run() == undisturbed(rows, model, monkeypatch)[0]
