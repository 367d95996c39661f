"""The threads of the core are shared by all calls, survive fork() and do not keep the process from ending."""

import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import silverbirch

X = np.random.default_rng(0).uniform(size=(20_000, 3))
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork()")


def linked(n_jobs):
    return silverbirch.linkage(X, "ward", n_jobs=n_jobs)


def linked_in_child():
    """What a forked process gets from its own threads; an error if it hangs."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply_async(linked, (4,)).get(timeout=60)


def test_several_python_threads_cluster_at_the_same_time():
    alone = linked(1)
    with ThreadPoolExecutor(6) as callers:
        for Z in callers.map(linked, [1, 2, 3, 4, 8, 4] * 3):
            np.testing.assert_array_equal(Z, alone)


@needs_fork
def test_a_forked_process_has_threads_of_its_own():
    alone = linked(4)
    np.testing.assert_array_equal(linked_in_child(), alone)
    np.testing.assert_array_equal(linked(4), alone)


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_process_forked_while_another_thread_clusters_does_not_hang():
    done = threading.Event()

    def keep_clustering():
        while not done.is_set():
            linked(4)

    other = threading.Thread(target=keep_clustering)
    other.start()
    try:
        for _ in range(5):
            np.testing.assert_array_equal(linked_in_child(), linked(1))
    finally:
        done.set()
        other.join()


def test_the_process_ends_although_threads_are_kept():
    program = """
import atexit, numpy, silverbirch
X = numpy.random.default_rng(0).uniform(size=(20_000, 3))
atexit.register(silverbirch.linkage, X, n_jobs=3)  # the last work of the process
silverbirch.linkage(X, n_jobs=4)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
