"""Measures silverbirch and its peers on the same data in one run: python -m benchmarks

jobs        the suites of jobs, as data                      adapters    calls each library, one function each
data        generates rows from a seed                       worker      measures one job in its own process
runner      runs the jobs, writes one raw row for each run   heights     compares dendrograms between libraries
summary     medians, ratios and exponents from raw rows      targets     the targets, and whether they are met
render      docs/benchmarks.md and the README's table        figure      time and memory against the number of points
ablations   measures what each mechanism for speed gains     mechanisms  the mechanisms, and the cases where each acts
raw_rows    writes and reads these rows                      studies     one question each
cores       the table of what more threads gain
instructions   instruction counts of two small fixed jobs, which noise cannot change

Raw rows go to results/<suite>.jsonl, one line for each run. Everything else is computed from them.
"""
