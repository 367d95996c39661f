"""silverbirch and its peers on the same data in one run: python -m benchmarks

jobs        what is measured: suites as data                 adapters    how each library is called, one function each
data        rows from a seed                                 worker      one measurement in a process of its own
runner      jobs in turn, one raw row a run                  heights     are the dendrograms the same?
summary     medians, ratios and exponents from raw rows      targets     what was asked for, and whether it was reached
render      docs/benchmarks.md and the README's table        figure      time and memory against the number of points
ablations   what each mechanism for speed gains              mechanisms  which there are, and where each acts
instructions   instruction counts of two small fixed jobs, a guard that noise cannot move

Raw rows go to results/<suite>.jsonl, one line a run. Everything else is computed from them, at any time later.
"""
