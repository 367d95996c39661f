"""The names that type checkers know are those that the core knows."""

from typing import get_args

import pytest

from silverbirch import checks, names


@pytest.mark.parametrize(
    ("literal", "known"),
    [
        (names.CFDistance, checks.CF_DISTANCES),
        (names.Absorption, checks.ABSORPTIONS),
        (names.LinkageName, checks.LINKAGES),
        (names.Mode, checks.MODES),
        (names.Algorithm, checks.ALGORITHMS),
    ],
)
def test_each_literal_has_the_names_of_the_core(literal, known):
    assert sorted(get_args(literal)) == sorted(known)
