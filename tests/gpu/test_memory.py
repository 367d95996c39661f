"""The memory of a clustering on a GPU: buffers shrink first, then it is refused with what would fit."""

import re

import pytest

pytest.importorskip("torch", reason="torch is not installed")

import silverbirch as sb
from silverbirch.gpu import memory

GB = 10**9


def buffer(monkeypatch, free, algorithm="rounds", count=1_000_000, columns=384):
    monkeypatch.setattr(memory, "free_bytes", lambda device: free)
    return memory.buffer_bytes("ward linkage", algorithm, count, columns, "cuda:0")


def test_ten_million_rows_fit_where_they_are_promised_to():
    needed = memory.needed_bytes("rounds", 10_000_000, 384) + memory.LARGEST_BUFFER
    assert 10_000_000 * 384 * 10 < needed < 110 * 2**30 - 10_000_000 * 384 * 4  # with the float32 rows beside


@pytest.mark.parametrize("algorithm", ["rounds", "greedy", "single"])
def test_the_buffer_shrinks_before_the_clustering_is_refused(monkeypatch, algorithm):
    needed = memory.needed_bytes(algorithm, 1_000_000, 384)
    assert buffer(monkeypatch, 10**12, algorithm) == memory.LARGEST_BUFFER
    assert buffer(monkeypatch, needed + 10**9, algorithm) == 10**9
    assert buffer(monkeypatch, needed + memory.LEAST_BUFFER, algorithm) == memory.LEAST_BUFFER
    with pytest.raises(sb.MemoryLimitError):
        buffer(monkeypatch, needed + memory.LEAST_BUFFER - 1, algorithm)


def test_few_objects_need_no_large_buffer(monkeypatch):
    assert buffer(monkeypatch, 10**12, count=1000) == 4 * 1000 * 1000


@pytest.mark.parametrize("algorithm", ["rounds", "greedy", "single", "matrix"])
def test_the_error_says_what_would_fit(monkeypatch, algorithm):
    with pytest.raises(
        sb.MemoryLimitError, match=r"memory on cuda:0 and 3 GB are free: .*CFTree.*device='cpu'"
    ) as error:
        buffer(monkeypatch, 3 * GB, algorithm)
    fitting = int(re.search(r"([\d,]+) objects of 384 columns fit", str(error.value))[1].replace(",", ""))
    assert 0 < fitting < 1_000_000
    buffer(monkeypatch, 3 * GB, algorithm, count=fitting)
    with pytest.raises(sb.MemoryLimitError):
        buffer(monkeypatch, 3 * GB, algorithm, count=fitting + 1)


def test_memory_that_torch_keeps_for_itself_is_free(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (5 * GB, 80 * GB))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 7 * GB)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 4 * GB)
    assert memory.free_bytes(torch.device("cuda:0")) == 8 * GB
