"""From files to labels in bounded memory: the steps that the command line runs.

preparation   -- fills missing values, scales columns, normalises rows: the same in every pass and every later run
statistics    -- counts, means, deviations and ranges of columns, from exact_sums
gathering     -- the pass for these statistics
shared_preparation -- the file of both, for all parts of the rows
aggregation   -- first pass: inserts prepared chunks into the tree
merging       -- in place of it: inserts features from many files into the tree
labelling     -- second pass: a label for every row, in input order; can be resumed
labels        -- writes label files, folders of them, or to standard output
model_file    -- a model with what its run adds to the file
provenance    -- what a run adds to a file: columns, preparation, record, and its sources: what it is made of
transformer   -- loads a model with its preparation as a scikit-learn pipeline
record        -- the record of a run: versions, parameters, input, counts, times, memory
budget        -- divides the memory limit of the process: the program, reading, and the tree
"""
