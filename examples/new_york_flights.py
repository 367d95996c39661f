"""Kinds of flights out of New York, and kinds of days: missing values and mixed columns in one pipeline.

    python examples/new_york_flights.py [FOLDER] [--out FOLDER]

FOLDER holds flights.parquet (nycflights13, CC0). Needs silverbirch[plot,files] and pandas.
"""

import numpy as np
import pandas as pd
from gallery import INK, data_file, options, save
from matplotlib import pyplot as plt
from matplotlib.colors import ListedColormap
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import silverbirch as sb

KINDS, KINDS_OF_DAYS = 10, 6
CALM_TO_STORM = ["#cfe0e8", "#8fb8ca", "#4d8cab", "#e2b04f", "#c8553d", "#24292f"]
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def main():
    args = options(__doc__, needs_data=True)
    flights = pd.read_parquet(data_file(args.data, "flights.parquet"))
    pipeline = make_pipeline(preparation(), sb.Betula(KINDS, max_leaves=5000, n_jobs=2)).fit(flights)
    flights["kind"] = pipeline[-1].labels_
    kinds = pd.DataFrame([described(part) for _, part in flights.groupby("kind")])
    print(f"{len(flights):,} flights, {len(pipeline[-1].features_):,} leaves, {KINDS} kinds of flights")
    print(kinds.to_string())

    days = pd.crosstab([flights["month"], flights["day"]], flights["kind"], normalize="index")
    found = sb.Dendrogram(sb.linkage(np.sqrt(days), "ward")).cut(n_clusters=KINDS_OF_DAYS)
    trouble = days.loc[:, kinds["delay"].gt(30) | kinds["what"].ne("")].sum(axis=1).groupby(found).mean()
    kind_of_day = trouble.rank(method="first").astype(int).to_numpy()[found] - 1  # 0 is the calmest
    print("\ndays by the kinds of their flights, the calmest first")
    for kind in range(KINDS_OF_DAYS):
        dates = [f"{day} {MONTHS[month - 1]}" for month, day in days.index[kind_of_day == kind]]
        listed = ", ".join(dates) if len(dates) < 9 else ", ".join(dates[:6]) + ", …"
        print(f"{len(dates):3} days, {trouble.sort_values().iloc[kind]:4.0%} late, cancelled or diverted: {listed}")
    draw(days, kinds, kind_of_day, args.out)
    sb.write_report(args.out / "new-york-flights.html", pipeline, title="Flights out of New York", force=True)


def preparation():
    """Delays on a logarithmic scale, with a column that says whether they are missing; distance, hour and airport."""
    logarithm = FunctionTransformer(signed_logarithm, feature_names_out="one-to-one")
    delays = make_pipeline(logarithm, SimpleImputer(add_indicator=True), StandardScaler())
    distance = make_pipeline(logarithm, StandardScaler())
    hour, origin = StandardScaler(), OneHotEncoder()
    columns = (delays, ["dep_delay", "arr_delay"]), (distance, ["distance"]), (hour, ["hour"]), (origin, ["origin"])
    return make_column_transformer(*columns, verbose_feature_names_out=False)


def signed_logarithm(values):
    """An hour late and two hours late are near to each other; ten minutes early and ten minutes late are not."""
    return np.sign(values) * np.log1p(np.abs(values) / 10)


def described(flights):
    cancelled, diverted = flights["dep_delay"].isna().mean() > 0.5, flights["arr_delay"].isna().mean() > 0.5
    return {
        "flights": len(flights),
        "delay": np.round(flights["dep_delay"].mean()),
        "miles": int(flights["distance"].mean()),
        "hour": int(flights["hour"].mean()),
        "what": "cancelled" if cancelled else "diverted" if diverted else "",
    }


def draw(days, kinds, kind_of_day, out):
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained", width_ratios=[1, 2])
    mix = days.groupby(kind_of_day).mean().T
    left.imshow(mix, cmap="Blues", vmin=0, vmax=0.4, aspect="auto")
    for (row, column), share in np.ndenumerate(mix):
        colour = "white" if share > 0.25 else INK
        left.text(column, row, f"{share:.0%}", ha="center", va="center", fontsize=7, color=colour)
    names = [k["what"] or f"{k['delay']:+.0f} min, {k['miles']:,} miles, {k['hour']} h" for _, k in kinds.iterrows()]
    left.set_yticks(range(len(names)), names)
    left.set_xticks(range(KINDS_OF_DAYS), [f"{(kind_of_day == k).sum()}\ndays" for k in range(KINDS_OF_DAYS)])
    left.scatter(range(KINDS_OF_DAYS), [KINDS - 0.2] * KINDS_OF_DAYS, c=CALM_TO_STORM, marker="s", s=60, clip_on=False)
    left.tick_params(axis="x", pad=18)
    left.set(ylim=(KINDS - 0.5, -0.5), title="Kinds of flights on each kind of day")
    calendar = np.full((12, 31), np.nan)
    month, day = np.array(days.index.to_list()).T
    calendar[month - 1, day - 1] = kind_of_day
    right.pcolormesh(calendar, cmap=ListedColormap(CALM_TO_STORM), vmin=0, vmax=5, edgecolors="white", linewidth=2)
    right.set_yticks(np.arange(12) + 0.5, MONTHS)
    right.set_xticks(np.arange(31) + 0.5, range(1, 32), fontsize=7)
    right.set(ylim=(12, 0), title="The days of 2013, from calm (pale) to the blizzard (black)")
    for ax in (left, right):
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
    save(figure, out / "new-york-flights.png")


if __name__ == "__main__":
    main()
