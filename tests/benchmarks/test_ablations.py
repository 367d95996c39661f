"""The ablations: the mechanisms, the runs that are compared, and the conclusions from raw rows."""

import re
from dataclasses import asdict
from pathlib import Path

from benchmarks.ablations import chosen, contestants, cores_of, gains, page_part
from benchmarks.jobs import Case
from benchmarks.mechanisms import MECHANISMS

from silverbirch import _core

SWITCHES = Path(__file__).parents[2] / "cpp" / "silverbirch" / "base" / "switches.hpp"
MACHINE = {"cpu": "some processor", "cores": 2, "instruction_set": "baseline"}


def row(without, cpu, *, megabytes=10.0, digest="same", **case):
    case = asdict(Case(**({"rows": 1_000} | case)))
    measured = {"status": "ok", "cpu": cpu, "wall": 2 * cpu, "beyond_mb": megabytes, "digest": digest}
    return case | {"without": without, "repeat": 1, "machine": MACHINE} | measured


def test_every_switch_is_measured_somewhere_and_every_measured_mechanism_has_a_switch():
    switches = re.findall(r"\buse\((\w+)\)", SWITCHES.read_text(encoding="utf-8"))
    assert sorted(switches) == sorted(mechanism.name for mechanism in MECHANISMS if mechanism.kept)
    assert all(mechanism.cases for mechanism in MECHANISMS)


def test_a_build_for_users_cannot_switch_anything_off():
    assert not hasattr(_core, "switch_off")


def test_every_case_is_run_with_everything_and_without_each_of_its_mechanisms():
    rounds = contestants(chosen([], []))
    for mechanism in MECHANISMS:
        for case in mechanism.cases:
            assert rounds[case][0] is None
            assert rounds[case].count(mechanism.name) == mechanism.kept


def test_only_the_cases_of_the_tasks_that_are_asked_for_are_run():
    assert {case.task for case in contestants(chosen([], ["tree"]))} == {"tree"}


def test_runs_at_a_time_have_no_core_in_common():
    groups = cores_of(1, 64)
    assert len({core for group in groups for core in group}) == len(groups)


def test_a_gain_is_the_ratio_of_medians_without_and_with():
    rows = [row(None, 1.0), row(None, 3.0), row(None, 2.0), row("tiles", 3.0), row("tiles", 99.0), row("tiles", 0.1)]
    (gain,) = gains(rows)["tiles"]
    assert (gain.time, gain.memory, gain.same_bits, gain.repeats) == (1.5, 1.0, True, 3)


def test_runs_are_compared_within_themselves_and_the_lesser_gain_counts():
    rows = [row(None, 1.0), row("tiles", 1.5, megabytes=21.0)]
    again = [row(None, 4.0, megabytes=5.0), row("tiles", 5.0, megabytes=5.0)]
    (gain,) = gains([r | {"run": 1} for r in rows] + [r | {"run": 2} for r in again])["tiles"]
    assert (gain.times, gain.time, gain.memory) == ((1.5, 1.25), 1.25, 1.0)


def test_other_bits_and_more_memory_without_a_mechanism_are_noticed():
    (gain,) = gains([row(None, 1.0, megabytes=9.0), row("tiles", 1.0, megabytes=19.0, digest="other")])["tiles"]
    assert not gain.same_bits
    assert gain.memory == 2.0


def test_the_page_names_the_case_of_the_greatest_gain():
    rows = [row(None, 1.0), row("tiles", 1.25), row(None, 1.0, columns=7), row("tiles", 1.5, columns=7)]
    text = "\n".join(page_part(rows))
    assert "| +50 % | ward, uniform 1,000 × 7 | +25 % | ward, uniform 1,000 × 5 |" in text
    assert page_part([]) == []
