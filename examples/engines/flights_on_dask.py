"""Kinds of flights out of New York on a Dask cluster: missing values, scales, a label for every flight.

    python examples/engines/flights_on_dask.py FOLDER

FOLDER holds flights.parquet (nycflights13, CC0). Needs silverbirch[dask]. Each cell, from one `# %%` to the next, can
be run on its own in a notebook.
"""

# %% A cluster of two worker processes on this machine. The address of your own scheduler goes here.
import sys
from pathlib import Path

import dask.dataframe as dd
import numpy as np
from distributed import Client

import silverbirch.dask

COLUMNS = ["dep_delay", "arr_delay", "air_time", "distance", "hour"]


def main():
    # Worker processes import this file, so the cells are in a function here; in a notebook they need not be.
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
        # %% The rows stay in the partitions of the data frame. Here there are twelve; usually they are files.
        flights = dd.read_parquet(Path(sys.argv[1]) / "flights.parquet").repartition(npartitions=12)
        print(f"{flights.npartitions} partitions on {len(client.scheduler_info()['workers'])} workers")

        # %% Workers aggregate, workers merge; 2 000 cluster features come back and are clustered here.
        model = silverbirch.dask.Betula(
            n_clusters=8, max_leaves=2000, missing="drop", scale="standard", client=client
        ).fit(flights[COLUMNS])
        print(f"{model.counts_['rows']:,} flights, {model.counts_['dropped']:,} left out for missing values")
        print(f"{len(model.features_):,} features, {model.n_clusters_} clusters")

        # %% Labels are lazy, with the partitions of the flights, so they fit beside them. Flights left out have none.
        flights["kind"] = model.predict(flights)
        kinds = flights[["kind", *COLUMNS]].groupby("kind").agg(["mean", "count"]).compute().sort_index()
        table = kinds.xs("mean", axis=1, level=1).round(0).astype(int)
        print(table.assign(flights=kinds["hour"]["count"]).to_string())

        # %% How late are the carriers? The share of each kind among their flights, computed on the workers.
        late = table.index[table["dep_delay"] > 60]
        flights["late"] = flights["kind"].isin(list(late)).astype(float)
        worst = flights.groupby("carrier")["late"].mean().compute().sort_values(ascending=False)
        print(
            "\nshare of very late flights:", ", ".join(f"{name} {share:.1%}" for name, share in worst.head(5).items())
        )

        # %% Another number of clusters needs no new pass over the rows.
        model.recut(n_clusters=3)
        print("three clusters:", model.clusters_.rows.tolist())

        # %% The model without Dask: for rows in memory, for a file, for the command line.
        local = model.to_local()
        print("a flight an hour late:", local.predict(np.array([[60.0, 65.0, 150.0, 1000.0, 17.0]])).tolist())
        model.save("flights.sb")


if __name__ == "__main__":
    main()
