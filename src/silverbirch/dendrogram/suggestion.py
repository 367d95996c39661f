"""The number of clusters that several criteria agree on, or the answer that there is no clear number."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..checks import MODES, as_choice, as_method
from ..features import ClusterFeatures
from ..names import Method, Mode
from ..wording import parameter
from .criteria import Scores, centre_scores, height_gaps, resampling_scores
from .nodes import above

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .dendrogram import Dendrogram

CRITERIA = ("height gap", "Calinski-Harabasz", "Davies-Bouldin", "silhouette", "gap", "stability")
MOST_FEATURES = 1000  # resampled dendrograms have at most this many leaves
ENOUGH_VOTES = 4
ENOUGH_STABILITY = 0.75  # of the way from the stability of uniform data to perfect agreement
ENOUGH_ERRORS = 3  # by how many standard errors the gap statistic must exceed that of one cluster
_SAME_STABILITY = 0.01  # differences up to this are ties
_MOST_ROWS = 16  # of the table as text


@dataclass(frozen=True, repr=False, eq=False)
class Suggestion:
    """The number of clusters that several criteria agree on, with the votes and the scores.

    Attributes
    ----------
    n_clusters : int or None
        The number of clusters; None if there is no clear number.
    reason : str
        Why this number, or why none.
    votes : dict {str: int or None}
        The number that each criterion votes for. None is no vote: the best score is that of one cluster or of k_max.
    k : int64 array
        The numbers of clusters that were compared: 1, 2, …, k_max.
    scores : dict {str: float64 array}
        The scores of each k, NaN where a criterion is not defined. Of "Davies-Bouldin" the least is best, of the others
        the greatest. "gap error" and "reference stability" are what "gap" and "stability" are compared with.

    Examples
    --------
    >>> import numpy as np, silverbirch as sb
    >>> X = np.random.default_rng(0).uniform(size=(100, 2))
    >>> suggestion = sb.Dendrogram(sb.linkage(X, "ward"), X).suggest(k_max=10)
    >>> suggestion.n_clusters is None
    True
    >>> suggestion.k.tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    """

    n_clusters: int | None
    reason: str
    votes: dict[str, int | None]
    k: NDArray[np.int64]
    scores: Scores

    def to_pandas(self) -> Any:
        """Returns the scores as a pandas.DataFrame with one row for each k.

        Returns
        -------
        pandas.DataFrame
            A column for each score; the index is k.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise ImportError("to_pandas needs pandas: pip install pandas") from None
        return pandas.DataFrame(self.scores, index=pandas.Index(self.k, name="k"))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws the scores of each criterion against k, and its vote.

        Parameters
        ----------
        ax : matplotlib Axes, default None
            Where to draw; None makes a new figure.

        Returns
        -------
        matplotlib Axes
            The axes with the drawing.

        Raises
        ------
        ImportError
            matplotlib is not installed.
        """
        from ..plot import draw_suggestion

        return draw_suggestion(self, ax)

    def __repr__(self) -> str:
        if not self.scores:
            return f"{self._answer()}: {self.reason}"
        rows = [self._heads(), *self._rows()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([f"{self._answer()}: {self.reason}", *(line.rstrip() for line in lines)])

    def _repr_html_(self) -> str:
        heads = "".join(f"<th>{escape(head)}</th>" for head in self._heads())
        rows = ("".join(f"<td>{cell}</td>" for cell in row) for row in self._rows())
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return (
            f"<p><b>{self._answer()}</b>: {escape(self.reason)}</p>"
            f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
        )

    def _answer(self) -> str:
        return "no clear number" if self.n_clusters is None else f"n_clusters = {self.n_clusters}"

    def _heads(self) -> list[str]:
        return ["k", *self.scores]

    def _rows(self) -> list[list[str]]:
        """The scores as text, * for a vote. Of many k only the voted ones, their neighbours and the first are shown."""
        voted = {k for k in self.votes.values() if k is not None}
        wanted = sorted({n for k in voted for n in (k - 1, k, k + 1)} | set(range(2, 6)))
        last = int(self.k.max(initial=0))
        shown = [k for k in wanted if 2 <= k <= last] if last > _MOST_ROWS else list(range(2, last + 1))
        rows = []
        for k in shown:
            marks = ["*" if self.votes.get(name) == k else " " for name in self.scores]
            values = (f"{scores[k - 1]:.3g}{mark}" for scores, mark in zip(self.scores.values(), marks, strict=True))
            rows.append([str(k), *values])
        return rows


def suggested(
    dendrogram: Dendrogram, k_max: int, method: Method, mode: Mode, n_draws: int, random_state: int
) -> Suggestion:
    """The answer of `Dendrogram.suggest`."""
    as_method(method, as_choice(mode, "mode", MODES), "linkage.method")
    top = _top(dendrogram)
    if top.n_leaves < 6:
        return _without_scores(f"there are only {top.n_leaves} leaves, too few to tell")
    if k_max < 3:
        return _without_scores(f"{parameter('k_max', k_max)} is too small to tell")
    k_max = min(k_max, top.n_leaves // 2)
    if not np.ptp(top._known_features().mean, axis=0).any():
        return _without_scores("all leaves have the same mean")
    k = np.arange(1, k_max + 1)
    labels = top.cut(n_clusters=k)
    scores = {
        "height gap": height_gaps(top, k_max),
        **centre_scores(top, labels),
        **resampling_scores(top, labels, method, mode, n_draws, random_state),
    }
    votes = _votes(k, scores)
    return Suggestion(*_decision(votes, scores), votes, k, scores)


def _without_scores(reason: str) -> Suggestion:
    return Suggestion(None, reason, {}, np.arange(0), {})


def _top(dendrogram: Dendrogram) -> Dendrogram:
    """The dendrogram of its uppermost branches, at most MOST_FEATURES; leaves without weight count as none."""
    features = dendrogram._known_features()
    if not (features.weight > 0).all():
        raise ValueError("a leaf has weight 0: leave such features out before clustering")
    if dendrogram.n_leaves <= MOST_FEATURES:
        return dendrogram
    tips, Z = above(dendrogram.Z, MOST_FEATURES)
    both = zip(features.arrays(), dendrogram.merged_features.arrays(), strict=True)
    return type(dendrogram)(Z, ClusterFeatures(*(np.concatenate(pair)[tips] for pair in both)))


def _votes(k: NDArray[np.int64], scores: Scores) -> dict[str, int | None]:
    best = {name: int(k[np.nanargmax(scores[name])]) for name in CRITERIA[:4] if name != "Davies-Bouldin"}
    best["Davies-Bouldin"] = int(k[np.nanargmin(scores["Davies-Bouldin"])])
    # The least k whose gap is within one error of the greatest.
    gap, greatest = scores["gap"], int(np.argmax(scores["gap"]))
    best["gap"] = int(k[np.argmax(gap >= gap[greatest] - scores["gap error"][greatest])])
    # The greatest k among the most stable.
    stability = scores["stability"][1:]
    best["stability"] = int(k[1 + np.flatnonzero(stability >= stability.max() - _SAME_STABILITY)[-1]])
    # A criterion that improves up to the last k has not found a number.
    return {name: best[name] if 1 < best[name] < k[-1] else None for name in CRITERIA}


def _decision(votes: dict[str, int | None], scores: Scores) -> tuple[int | None, str]:
    counts = Counter(k for k in votes.values() if k is not None)
    if not counts:
        return None, "no criterion is best between 2 and the largest k"
    k, most = max(sorted(counts.items()), key=lambda item: item[1])
    if most < ENOUGH_VOTES:
        said = ", ".join(f"{name} {'none' if k is None else k}" for name, k in votes.items())
        return None, f"the criteria disagree ({said})"
    voted = f"{most} of {len(votes)} criteria vote for"
    gap, error = scores["gap"], scores["gap error"]
    if gap[k - 1] - gap[0] < ENOUGH_ERRORS * np.hypot(error[k - 1], error[0]):
        return None, f"{voted} {k}, but it explains no more than it would of uniform data (gap statistic)"
    stability, reference = float(scores["stability"][k - 1]), float(scores["reference stability"][k - 1])
    found = f"resampled features give the same clusters by ARI {stability:.2f}, uniform data by {reference:.2f}"
    if stability - reference < ENOUGH_STABILITY * (1 - reference):
        return None, f"{voted} {k}, but {found}"
    return k, f"{voted} it; {found}"
