"""The same dendrogram on a GPU: objects → rounds, greedy or matrix → merges → Z.

=================  ==========================================================================
`rows`             an array in main memory or on the device, as it is or as unit rows
`objects`          what is clustered: merged duplicates, moved near the origin, scaled
`merges`           the merges, and scipy's Z from them
=================  ==========================================================================

Only functions import torch and triton: importing a module of this room needs neither.
"""
