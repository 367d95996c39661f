"""From files to labels in bounded memory: what the command line runs.

preparation   -- missing values, scale, cosine: the same for every pass and every later run
aggregation   -- first pass: prepared chunks into the tree
checkpoint    -- an aggregation on disk: killed at any moment, it goes on to the same bits
labelling     -- second pass: a label for every row, in input order
record        -- what a run did: versions, parameters, input, counts, times, memory
"""
