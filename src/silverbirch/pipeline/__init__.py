"""From files to labels in bounded memory: what the command line runs.

preparation   -- missing values, scale, cosine: the same for every pass and every later run
aggregation   -- first pass: prepared chunks into the tree
labelling     -- second pass: a label for every row, in input order
labels        -- the files that labels are written to
provenance    -- what a run adds to a file: columns, preparation, record
transformer   -- a prepared model in Python, as a scikit-learn pipeline
record        -- what a run did: versions, parameters, input, counts, times, memory
budget        -- what a limit for the whole process leaves for the tree
"""
