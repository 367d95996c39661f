"""What files hold: models, trees, features and dendrograms on disk, written whole or not at all.

container                           -- named arrays and plain values, in the layout of safetensors
features, tree, dendrogram, model   -- how each of them becomes plain values and arrays, and comes back
loading                             -- the kinds of files: which class, and who stores it
checkpoint                          -- unfinished work
atomic                              -- whole files or none
"""
