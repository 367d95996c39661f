"""Kills the command line again and again: `python killing.py` with a JSON object on stdin.

    arguments   of the command, {out} standing for the folder of its outputs
    out         a folder to make the folders of outputs in
    checkpoint  the file it goes on from
    kills       how often at least to kill it with SIGKILL, at moments spread over the time it takes; goes on until a
                third of them left a checkpoint to go on from
    seed        of those moments

Each try is a fork of this process, which has the imports done, so that the moments fall into the work. A run that comes
to its end in spite of it is begun anew. Prints JSON: how many kills there were, how many left a checkpoint, and the
folders of outputs, the first of an undisturbed run.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet  # noqa: F401

from silverbirch.cli import app


def attempt(arguments, seconds=None):
    """Whether the command came to its end, before it was killed after that many seconds."""
    child = os.fork()
    if child == 0:
        try:
            app(arguments)
        except SystemExit as end:
            os._exit(end.code or 0)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return False
    assert os.WEXITSTATUS(status) == 0, f"exit code {os.WEXITSTATUS(status)}"
    return True


def main():
    job = json.load(sys.stdin)
    chance = random.Random(job["seed"])
    folders = []

    def next_arguments():
        folders.append(str(Path(job["out"]) / str(len(folders))))
        Path(folders[-1]).mkdir()
        return [argument.replace("{out}", folders[-1]) for argument in job["arguments"]]

    begin = time.monotonic()
    assert attempt([*next_arguments(), "--quiet"])
    usual = time.monotonic() - begin

    resumable = ["--quiet", "--checkpoint", job["checkpoint"], "--checkpoint-every", "0"]
    arguments = next_arguments()
    killed = with_checkpoint = 0
    while killed < job["kills"] or with_checkpoint < job["kills"] / 3:
        assert killed < 20 * job["kills"]
        if attempt([*arguments, *resumable], chance.uniform(0, usual)):
            arguments = next_arguments()
        else:
            killed += 1
            with_checkpoint += os.path.exists(job["checkpoint"])
    assert attempt([*arguments, *resumable])
    print(json.dumps({"kills": killed, "with_checkpoint": with_checkpoint, "folders": folders}))


main()
