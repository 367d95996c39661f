"""The paper's experiments: Schubert & Lang, "Data Aggregation for Hierarchical Clustering" (2023).

Run by `make reproduce`, in parts by `python -m experiments`. A job says what one raw row measures (jobs), a runner
measures it in a process of its own (runner, worker) and appends it to a file (raw_rows); the page is made from the
rows alone (reproduction).

The paper        -- table3, table4, figure3, figure4, claims; published/*.csv has its numbers
Beyond it        -- draws, linkages, distances, alternatives, stability
What is measured -- clustering, summaries, moved_data on data_sets; merge_order has the order ELKI cut by
"""
