"""Measures one job in its own process: reads the job as JSON from stdin, prints the measurement as JSON."""

from __future__ import annotations

import json
import sys
from typing import Any

from silverbirch.machine import peak_memory

from .jobs import ClusterJob, Job, VarianceErrorJob, from_dict


def measure(job: Job) -> dict[str, Any]:
    if isinstance(job, ClusterJob):
        from .clustering import measure as measure_clustering

        return measure_clustering(job)
    from .moved_data import measure_moved_tree, measure_variance_error

    return measure_variance_error(job) if isinstance(job, VarianceErrorJob) else measure_moved_tree(job)


def main() -> None:
    row = measure(from_dict(json.load(sys.stdin)))
    peak = peak_memory()
    print(json.dumps(row | {"peak_mb": None if peak is None else round(peak / 1e6, 1)}))


if __name__ == "__main__":
    main()
