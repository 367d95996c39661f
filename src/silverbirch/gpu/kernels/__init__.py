"""Kernels in Triton: each file holds one step of a clustering on a GPU. Importing them needs triton."""
