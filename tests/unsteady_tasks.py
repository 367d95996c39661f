"""Tasks of workers that are late or die. In a module of their own, because workers import them by name."""

import os
import random
import signal
import time
from pathlib import Path


def late(rows, seed):
    """The rows after a random few milliseconds."""
    time.sleep(random.Random(seed).uniform(0, 0.02))
    return rows


def killing(rows, folder, at):
    """The rows; call number `at` of all calls with this folder kills its worker, and no other call does."""
    call = 0
    while True:
        try:
            os.close(os.open(Path(folder) / str(call), os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            call += 1
        else:
            break
    if call == at:
        os.kill(os.getpid(), signal.SIGKILL)
    return rows


def slow(rows, folder):
    """The rows after a while; a file with the id of the process says that it has begun."""
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(0.2)
    return rows
