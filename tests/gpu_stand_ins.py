"""Algorithms on a GPU that are not there yet, by those of the CPU."""

import silverbirch as sb


def merged_on_the_cpu(objects, linkage, buffer_bytes=0):
    import torch

    names = objects.cluster.tolist()
    for a, b, height, _ in sb.linkage(objects.mean.numpy(), linkage, weights=objects.weight.numpy()):
        pair = [torch.tensor([names[int(cluster)]]) for cluster in (a, b)]
        names += objects.merges.add(*pair, torch.tensor([height], dtype=torch.float64)).tolist()
    return {"searches": len(objects)}


MODULES = {
    "silverbirch.gpu.single": {
        "cluster_single": lambda objects, buffer_bytes: merged_on_the_cpu(objects, "single", buffer_bytes)
    },
}
