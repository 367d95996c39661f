"""What files hold: models, trees, features and dendrograms on disk, written whole or not at all.

container    -- named arrays and plain values, in the layout of safetensors
loading      -- which class a file holds
tree, model  -- how a tree and a fitted model become arrays and come back
provenance   -- what a run adds to a file: columns, preparation, record
checkpoint   -- an unfinished aggregation
atomic       -- whole files or none
"""
