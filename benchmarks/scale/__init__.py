"""The study of scale (`benchmarks.studies.scale`).

costs     what a worker and the client do, each alone in one process
cluster   a real cluster of Dask here: transfers, the scheduler, whole runs
merges    the real merges of a thousand sets of features
model     the time of `fit` and of the labels for any number of workers, from the costs
page      the generated parts of docs/scale.md
"""
