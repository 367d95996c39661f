"""Only one run uses a file; no lock outlives its process."""

import errno
import os
import signal
import subprocess
import sys

import pytest

from silverbirch.storage import locks
from silverbirch.storage.locks import one_run_only

HOLD = """
import sys
from pathlib import Path
from silverbirch.storage.locks import one_run_only

with one_run_only(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock of state.sb until its stdin ends."""
    command = [sys.executable, "-c", HOLD, str(tmp_path / "state.sb")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_another_process_is_refused_while_the_file_itself_is_replaced(holder, tmp_path):
    path = tmp_path / "state.sb"
    for content in (b"one", b"two"):
        (tmp_path / "new").write_bytes(content)
        os.replace(tmp_path / "new", path)
        with (
            pytest.raises(BlockingIOError, match="another run uses"),
            one_run_only(path),
        ):
            pass
    holder.communicate("")
    with one_run_only(path):
        pass
    assert [found.name for found in tmp_path.iterdir()] == ["state.sb"]


def test_a_lock_is_gone_with_a_process_that_was_killed(holder, tmp_path):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert (tmp_path / "state.sb.lock").exists()  # the file stays, its lock does not
    with one_run_only(tmp_path / "state.sb"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_lock_on_a_file_that_its_owner_has_removed_does_not_count(tmp_path, monkeypatch):
    path, lock = tmp_path / "state.sb.lock", locks._try_lock
    path.touch()
    removals = iter([path.unlink])

    def after_its_owner_has_ended(handle):
        next(removals, lambda: None)()
        return lock(handle)

    monkeypatch.setattr(locks, "_try_lock", after_its_owner_has_ended)
    with locks.locked(path) as handle:
        assert os.path.samestat(os.fstat(handle), os.stat(path))


def test_a_file_system_without_locks_refuses_nobody(tmp_path, monkeypatch):
    def unsupported(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locks.fcntl, "flock", unsupported)
    with one_run_only(tmp_path / "state.sb"), one_run_only(tmp_path / "state.sb"):
        pass
