"""n_jobs=-1 is the cores that this process may use, whatever the machine has."""

import os

import pytest
from joblib import Parallel, delayed, parallel_config

from silverbirch import machine
from silverbirch.checks import as_threads

CORES = 16


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A machine of 16 cores without limits. The function writes one of the files in which Linux describes itself."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(CORES)), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: CORES)
    monkeypatch.setattr(machine, "_ROOT", tmp_path)
    for name in ("OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT"):
        monkeypatch.delenv(name, raising=False)

    def write(path, text):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")

    return write


def test_without_limits_all_cores_are_used(system):
    assert as_threads(-1) == CORES


def test_an_explicit_number_stays_as_it_is(system, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert [as_threads(n) for n in (None, 1, 4, 40)] == [1, 1, 4, 40]


def test_negative_numbers_leave_cores_free_but_one(system, monkeypatch):
    assert [as_threads(n) for n in (-1, -2, -CORES)] == [CORES, CORES - 1, 1]
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert [as_threads(n) for n in (-1, -2, -3, -CORES)] == [2, 1, 1, 1]


def test_only_the_cores_of_the_affinity_count(system, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5, 9})
    assert as_threads(-1) == 3


def test_a_system_without_affinity_says_how_many_cores_it_has(system, monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity")
    assert as_threads(-1) == CORES


def test_hyper_threads_of_one_core_count_once(system, monkeypatch):
    for processor in range(CORES):
        core = processor % 8
        system(f"sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list", f"{core},{core + 8}")
    assert as_threads(-1) == 8
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1, 8})
    assert as_threads(-1) == 2


@pytest.mark.parametrize(("quota", "cores"), [("400000 100000", 4), ("150000 100000", 2), ("max 100000", CORES)])
@pytest.mark.parametrize("group", ["", "a", "a/b"])
def test_the_quota_of_any_cgroup_above_limits_them(system, quota, cores, group):
    system("proc/self/cgroup", "1:name=systemd:/elsewhere\n0::/a/b")
    system(f"sys/fs/cgroup/{group}/cpu.max", quota)
    assert as_threads(-1) == cores


@pytest.mark.parametrize(("quota", "cores"), [("300000", 3), ("-1", CORES)])
@pytest.mark.parametrize("group", ["", "docker/1a2b"])
def test_the_quota_of_cgroup_version_1_limits_them(system, quota, cores, group):
    system("proc/self/cgroup", "4:memory:/docker/1a2b\n3:cpu,cpuacct:/docker/1a2b")
    system(f"sys/fs/cgroup/cpu/{group}/cpu.cfs_quota_us", quota)
    system(f"sys/fs/cgroup/cpu/{group}/cpu.cfs_period_us", "100000")
    assert as_threads(-1) == cores


@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT"])
@pytest.mark.parametrize(
    ("value", "cores"), [("3", 3), ("3,2", 3), ("99", CORES), ("", CORES), ("0", CORES), ("x", CORES)]
)
def test_limits_of_the_environment_are_respected(system, monkeypatch, name, value, cores):
    monkeypatch.setenv(name, value)
    assert as_threads(-1) == cores


@pytest.mark.parametrize("inner", [1, 2])
def test_processes_of_joblib_use_no_more_than_it_allows(inner):
    with parallel_config("loky", n_jobs=2, inner_max_num_threads=inner):
        threads = Parallel()(delayed(as_threads)(-1) for _ in range(4))
    assert threads == [min(inner, machine.usable_cores())] * 4
