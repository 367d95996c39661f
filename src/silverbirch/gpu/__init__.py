"""The same dendrogram on a GPU: rows → objects → rounds, greedy, single or matrix → merges → Z.

=================  ==========================================================================
`device`           which device computes, and arrays of other libraries on it
`memory`           what a clustering takes, compared with what is free
`cluster`          the door: the algorithm of each linkage, and checks of the rows
`nearest`          the exactly nearest of many points, for many rows
`rows`             an array in main memory or on the device, as it is or as unit rows
`objects`          what is clustered: merged duplicates, moved near the origin, scaled
`merges`           the merges, and scipy's Z from them
`history`          merges that name their clusters by objects
`matrix`           complete, average and weighted linkage of distances, on a matrix in the device's memory
`matrix_rounds`    the rounds on that matrix
`members`          distances of clusters by their objects, for the same linkages where no matrix of all objects fits
`member_search`    nearest neighbours by these distances
`member_rounds`    the rounds that merge them, until a matrix fits
`greedy`           centroid and median linkage, by means
`single`           single linkage, from a minimum spanning tree
`neighbours`       of objects by their means: the first search of the two above, and outside of a component
`kernels`          steps of all of them in Triton
=================  ==========================================================================

Only functions import torch, and `kernels`: importing another module of this room needs neither torch nor triton.
"""
