"""Progress bars: one for each phase; each ends at 100 % and leaves a whole line, whatever shows it."""

import contextlib
import io
import re
import sys
import types

import numpy as np
import pytest
from scipy.spatial.distance import pdist

import silverbirch as sb
from silverbirch import _core
from silverbirch.progress import reporter

X = np.random.default_rng(0).normal(size=(3000, 3))
FEATURES = sb.CFTree(max_leaves=100).insert(X).features
DISTANCES = pdist(X[:500])
PHASES = {
    "tree": lambda **p: sb.CFTree(max_leaves=100).insert(X, **p),
    "features": lambda **p: sb.CFTree().insert(FEATURES, **p),
    "chunks": lambda **p: sb.CFTree().insert(iter([X[:1000], X[1000:]]), **p),
    "merge": lambda **p: sb.CFTree().merge(sb.CFTree().insert(X), **p),
    "assign": lambda **p: sb.CFTree(max_leaves=100).insert(X).assign(X, **p),
    "refined": lambda **p: FEATURES.refined(X, **p),
    "points": lambda **p: sb.linkage(X[:500], "ward", **p),
    "distances": lambda **p: sb.linkage(DISTANCES, "complete", **p),
    "prototypes": lambda **p: sb.linkage(X[:100], "minimax", **p),
    "aggregation": lambda **p: sb.linkage(FEATURES, "radius", mode="aggregation", **p),
    "one object": lambda **p: sb.linkage(X[:1], "ward", **p),
}


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def every_report():
    """The core reports all progress, not only a few times a second."""
    _core.set_report_interval(0)
    yield
    _core.set_report_interval(50)


@pytest.fixture(params=["tqdm", "text"])
def terminal(request, monkeypatch):
    if request.param == "tqdm":
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm", None)
    return Terminal()


@pytest.fixture
def drawn_at_once(monkeypatch):
    monkeypatch.setattr("silverbirch.progress._Bar.interval", 0.0)
    monkeypatch.setattr("silverbirch.progress._LogLines.interval", 0.0)


class Notebook:
    """Stands for the kernel of a notebook: keeps each displayed line and what it is replaced by."""

    def __init__(self):
        self.lines = []
        self.kernel = self

    def display(self, line, *, raw, display_id):
        assert raw
        assert display_id
        self.lines.append([line["text/plain"]])
        return types.SimpleNamespace(update=lambda line, raw: self.lines[-1].append(line["text/plain"]))


@pytest.fixture
def notebook(monkeypatch):
    kernel = Notebook()
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: kernel
    ipython.display = types.ModuleType("IPython.display")
    ipython.display.display = kernel.display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    return kernel


def on_screen(text):
    """The lines that a terminal shows: a carriage return goes back to the begin of the line."""
    assert text.endswith("\n")
    return [re.sub(r"\x1b\[A", "", line.rsplit("\r", 1)[-1]) for line in text[:-1].split("\n")]


@pytest.mark.usefixtures("every_report", "drawn_at_once")
@pytest.mark.parametrize("phase", PHASES)
def test_a_bar_on_a_terminal_ends_at_all_and_with_a_new_line(phase, terminal):
    with contextlib.redirect_stderr(terminal):
        PHASES[phase](progress=True)
    (line,) = on_screen(terminal.getvalue())
    assert "100%" in line


@pytest.mark.parametrize("phase", PHASES)
def test_a_log_gets_one_line_without_carriage_returns(phase, capsys):
    PHASES[phase](progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert re.fullmatch(r"[a-z ]+: 100%, \d+\.\d s\n", shown.err)


@pytest.mark.usefixtures("every_report", "drawn_at_once")
@pytest.mark.parametrize("phase", PHASES)
def test_a_notebook_has_one_line_that_is_updated_and_nothing_on_stderr(phase, notebook, capsys):
    PHASES[phase](progress=True)
    (line,) = notebook.lines
    assert ": 100%, " in line[-1]
    assert not any("\r" in text for text in line)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("progress", [False, None])
def test_nothing_is_shown_unasked(phase, progress, capsys):
    PHASES[phase](progress=progress)
    assert capsys.readouterr() == ("", "")


def test_a_fit_has_a_bar_for_each_phase(terminal):
    with contextlib.redirect_stderr(terminal):
        sb.Betula(5, max_leaves=100, refine=1, progress=True).fit(X)
    lines = on_screen(terminal.getvalue())
    assert [line.partition(":")[0] for line in lines] == ["tree", "finer leaves", "ward linkage", "nearest leaves"]
    assert all("100%" in line for line in lines)


@pytest.mark.parametrize("rows", [X, [X[:1000], X[1000:]]], ids=["array", "stream"])
@pytest.mark.parametrize(
    "search", [sb.Betula.predict, sb.Betula.representatives, lambda model, rows: model.cut(3, X=rows)]
)
def test_each_search_for_the_leaves_of_rows_has_a_bar(search, rows, terminal):
    model = sb.Betula(5, max_leaves=100).fit(X).set_params(progress=True)
    with contextlib.redirect_stderr(terminal):
        search(model, iter(rows) if isinstance(rows, list) else rows)
    (line,) = on_screen(terminal.getvalue())
    assert line.startswith("nearest leaves: 100%")


def test_distances_that_are_computed_have_a_bar_too(terminal):
    with contextlib.redirect_stderr(terminal):
        sb.linkage(X[:500], "complete", "cityblock", progress=True)
    assert [line.partition(":")[0] for line in on_screen(terminal.getvalue())] == ["distances", "complete linkage"]


@pytest.mark.usefixtures("drawn_at_once")
@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_a_failure_or_an_interrupt_ends_the_line_where_it_was(failure, terminal):
    with contextlib.redirect_stderr(terminal):
        with contextlib.suppress(failure), reporter(True, "tree") as report:
            report(3, 10)
            raise failure
        print("next", file=sys.stderr)
    line, following = on_screen(terminal.getvalue())
    assert " 30%" in line
    assert following == "next"


def test_a_failure_before_the_first_report_shows_nothing(terminal):
    with contextlib.redirect_stderr(terminal), pytest.raises(ValueError, match="nan"):
        sb.CFTree().insert([[np.nan]], progress=True)
    assert terminal.getvalue() == ""


@pytest.mark.usefixtures("drawn_at_once")
def test_a_log_keeps_what_was_reached_before_an_interrupt(capsys):
    with contextlib.suppress(KeyboardInterrupt), reporter(True, "tree") as report:
        report(3, 10)
        raise KeyboardInterrupt
    assert re.fullmatch(r"tree:  30%, \d+\.\d s\n", capsys.readouterr().err)


@pytest.mark.parametrize("progress", ["yes", 2, [True]])
@pytest.mark.parametrize("phase", ["tree", "points"])
def test_what_is_no_progress_is_refused(phase, progress):
    with pytest.raises(TypeError, match="must be True, False or a function"):
        PHASES[phase](progress=progress)
