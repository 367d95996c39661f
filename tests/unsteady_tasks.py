"""Tasks of workers that are late or die. In a module of their own, because workers import them by name."""

import os
import random
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from silverbirch.engines.work import Gather


def late(rows, seed):
    """The rows after a random few milliseconds."""
    time.sleep(random.Random(seed).uniform(0, 0.02))
    return rows


def killing(rows, folder, at):
    """The rows; call number `at` of all calls with this folder kills its worker, and no other call does."""
    if next_call(folder) == at:
        os.kill(os.getpid(), signal.SIGKILL)
    return rows


def next_call(folder):
    """The number of this call of all calls with this folder, by any process."""
    number = 0
    while True:
        try:
            os.close(os.open(Path(folder) / str(number), os.O_CREAT | os.O_EXCL))
            return number
        except FileExistsError:
            number += 1


def slow(rows, folder):
    """The rows after a while; a file with the id of the process says that it has begun."""
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(0.5)
    return rows


class Killing(Gather):
    """Work of which every worker dies."""

    def __call__(self, number, rows, weight=None):
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Waiting(Gather):
    """Work that does not end; a file in the folder says that it has begun."""

    folder: Path

    def __call__(self, number, rows, weight=None):
        (self.folder / str(os.getpid())).touch()
        time.sleep(600)
