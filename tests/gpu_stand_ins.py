"""Algorithms on a GPU that are not there yet, by those of the CPU."""

import numpy as np

import silverbirch as sb


def merged_on_the_cpu(objects, linkage="single"):
    import torch

    names = objects.cluster.tolist()
    for row, (a, b, height, _) in enumerate(sb.linkage(objects.mean.numpy(), linkage, weights=objects.weight.numpy())):
        pair = [torch.tensor([names[int(cluster)]]) for cluster in (a, b)]
        numbers = [torch.tensor([value], dtype=torch.float64) for value in (height, row + 1.0)]
        names += objects.merges.add(*pair, *numbers).tolist()
    return {"searches": len(objects)}


MODULES = {
    "silverbirch.gpu.greedy": {"cluster_greedily": merged_on_the_cpu},
    "silverbirch.gpu.single": {"cluster_single": merged_on_the_cpu},
    "silverbirch.gpu.matrix": {"cluster_by_matrix": merged_on_the_cpu},
    "silverbirch.gpu.matrix_rounds": {"matrix_bytes": lambda count, columns: 8 * count * count},
}
