"""The paper's experiments: Schubert & Lang, "Data Aggregation for Hierarchical Clustering" (2023).

`make reproduce` runs all of them, `python -m experiments` some. A job describes one measurement (jobs). The runner
measures it in its own process (runner, worker) and appends a raw row to a file (raw_rows). The page is computed from
the raw rows alone (reproduction).

The paper        -- table3, table4, figure3, figure4, claims; published/*.csv has its numbers
Beyond the paper -- draws, linkages, distances, alternatives, stability
Measurements     -- clustering, summaries, moved_data on data_sets; merge_order has the order of merges that ELKI used
"""
