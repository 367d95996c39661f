"""Numerical stability, the reason BETULA exists: the data moves away from the origin."""

from __future__ import annotations

from pathlib import Path

from . import figures
from .experiment import Experiment
from .figures import Curve
from .jobs import Job, MovedTreeJob, Scale, VarianceErrorJob
from .markdown import NOT_MEASURED, table
from .moved_data import FEATURES, THRESHOLD, TREES
from .raw_rows import RawRows

DTYPES = ("float64", "float32")
FEATURE_STYLES = {
    "classic, float32": (figures.RED, True),
    "classic, float64": (figures.RED, False),
    "BETULA, float32": (figures.GREEN, True),
    "silverbirch, float32 rows": (figures.BLUE, True),
    "silverbirch, float64 rows": (figures.BLUE, False),
}
TREE_COLOURS = {"silverbirch": figures.BLUE, "scikit-learn Birch": figures.RED, "all rows": figures.GREY}
# The place of the offset 0 on the logarithmic axis.
_ORIGIN = 0.1


def error_job(scale: Scale, features: str, offset: float) -> VarianceErrorJob:
    return VarianceErrorJob(features, offset, scale.moved_rows // 10)


def tree_job(scale: Scale, tree: str, dtype: str, offset: float) -> MovedTreeJob:
    return MovedTreeJob(tree, dtype, offset, scale.moved_rows, scale.k)


def jobs(scale: Scale) -> list[Job]:
    errors = [error_job(scale, features, offset) for features in FEATURES for offset in scale.offsets]
    trees = [tree_job(scale, t, dtype, offset) for t in TREES for dtype in DTYPES for offset in scale.offsets]
    return [*errors, *trees]


def section(scale: Scale, rows: RawRows, images: Path) -> str:
    _draw(scale, rows, images / "reproduction-stability.png")
    errors = []
    for features in FEATURES:
        found = [rows.good(error_job(scale, features, offset)) for offset in scale.offsets]
        errors.append([features, *(_cell(row, "worst_error", ".0e") for row in found)])
    leaves, quality = [], []
    for tree in TREES:
        for dtype in DTYPES:
            found = [rows.good(tree_job(scale, tree, dtype, offset)) for offset in scale.offsets]
            leaves.append([tree, dtype, *(_cell(row, "leaves", ",") for row in found)])
            quality.append([tree, dtype, *(_cell(row, "rmsd", ".3f") for row in found)])
    columns = [_offset_text(offset) for offset in scale.offsets]
    return "\n\n".join(
        [
            "All coordinates are moved by the same offset and rounded to the precision of the column; everything is "
            "measured against those rounded rows. **Features**: groups of 40 Gaussian rows are added up one row at "
            "a time; the table has the worst relative error of a group's variance against exact fractions. "
            "`classic` keeps (N, LS, SS) in numpy, in the precision named; `BETULA, float32` are the paper's update "
            "equations with all in float32; `silverbirch` keeps its sums in float64 whatever the rows are.",
            "![Numerical stability](images/reproduction-stability.png)",
            table(["worst error of the variance, offset", *columns], errors),
            f"**Trees**: {scale.moved_rows:,} rows of the Gaussian mixture, a fixed threshold of {THRESHOLD:g} for "
            "the radius of a leaf, the distance of means to go down by, Ward linkage. scikit-learn's Birch stands "
            "for a tree of (N, LS, SS) features. The RMSD is that of the labels, on the rows as they were before "
            "they were moved. `all rows` is Ward of the rounded rows without a tree: what the rounding leaves to be "
            "found (its leaves are the different rows). In float32 the rounding is coarser than the clusters from "
            "1e8 on.",
            table(["leaves, offset", "rows", *columns], leaves),
            table([f"RMSD at k = {scale.k}, offset", "rows", *columns], quality),
        ]
    )


def _cell(row: dict[str, object] | None, quantity: str, form: str) -> str:
    value = None if row is None else row.get(quantity)
    return NOT_MEASURED if value is None else format(value, form)


def _offset_text(offset: float) -> str:
    return "0" if offset == 0 else f"{offset:.0e}".replace("e+0", "e").replace("e+", "e")


def _draw(scale: Scale, rows: RawRows, path: Path) -> None:
    from matplotlib.ticker import NullLocator

    figure, axes = figures.new_figure(3, width=5.6)
    figure.subplots_adjust(wspace=0.95)
    errors = [
        _curve(name, *style, {o: rows.good(error_job(scale, name, o)) for o in scale.offsets}, "worst_error")
        for name, style in FEATURE_STYLES.items()
    ]
    figures.draw(axes[0], errors, title="Worst relative error of a variance", x="offset", y="relative error")
    for axis, quantity, title in ((axes[1], "leaves", "Leaves"), (axes[2], "rmsd", f"RMSD at k = {scale.k}")):
        curves = [
            _curve(
                f"{tree}, {dtype}",
                colour,
                dtype == "float32",
                {o: rows.good(tree_job(scale, tree, dtype, o)) for o in scale.offsets},
                quantity,
            )
            for tree, colour in TREE_COLOURS.items()
            for dtype in DTYPES
        ]
        figures.draw(axis, curves, title=title, x="offset", y=title)
    for axis in axes:
        axis.set_xticks(
            [_ORIGIN, *(10.0**power for power in (2, 4, 6, 8, 10))], ["0", "1e2", "1e4", "1e6", "1e8", "1e10"]
        )
        axis.xaxis.set_minor_locator(NullLocator())
    figures.save(figure, path)


def _curve(label: str, colour: str, dashed: bool, found: dict[float, dict[str, object] | None], quantity: str) -> Curve:
    points = {
        offset or _ORIGIN: float(str(row[quantity]))
        for offset, row in found.items()
        if row is not None and row.get(quantity) is not None
    }
    return Curve(label, colour, list(points), list(points.values()), dashed)


EXPERIMENT = Experiment("stability", "Numerical stability: classic and BETULA features", jobs, section)
