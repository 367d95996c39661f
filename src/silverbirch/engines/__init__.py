"""The same job on many machines: partitions of rows to a model, and to a label for every row.

    partition 0 ─ Aggregate ─► bytes ─┐
    partition 1 ─ Aggregate ─► bytes ─┼─ merged ─► bytes ─┐
        …                             │                   ├─ merged ─► one set of features ─► model
    partition 9 ─ Aggregate ─► bytes ─┴─ merged ─► bytes ─┘                                    │
                                                                                               │ bytes
    partition i ─ labelled ─► label of each row ◄──────────────────────────────────────────────┘

partial   -- what crosses the wire, and how it is merged
work      -- what a worker does with a partition
job       -- the passes over the partitions, and the order of merges
files     -- partitions that are files: `silverbirch cluster --dask` and `--spark`
dask      -- the engine Dask: how to do some work on all partitions, and the estimator for its collections
spark     -- the engine Spark, the same

Merges follow the numbers of the partitions, so the result does not depend on which worker is ready first. A worker that
dies is replaced by its engine, and the same partition gives the same bytes again.
"""
