"""The linkage matrix of merges that were added in rounds."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch

from silverbirch.gpu.merges import Merges


def added(heights, monotone):
    merges = Merges(4)
    first = merges.add(torch.tensor([0, 2]), torch.tensor([1, 3]), torch.tensor(heights[:2], dtype=torch.float64))
    merges.add(first[:1], first[1:], torch.tensor(heights[2:], dtype=torch.float64))
    return merges.linkage_matrix(2.0, monotone).tolist()


def test_rows_are_ordered_by_height():
    assert added([4.0, 2.0, 6.0], True) == [[2, 3, 1, 2], [0, 1, 2, 2], [4, 5, 3, 4]]


def test_heights_that_fall_by_rounding_are_levelled():
    assert added([4.0, 2.0, np.nextafter(4.0, 0)], True) == [[2, 3, 1, 2], [0, 1, 2, 2], [4, 5, 2, 4]]


def test_inversions_stay_where_they_were_added():
    assert added([4.0, 2.0, 1.0], False) == [[0, 1, 2, 2], [2, 3, 1, 2], [4, 5, 0.5, 4]]


def test_one_object_has_no_merges():
    assert Merges(1).linkage_matrix(1.0).shape == (0, 4)
