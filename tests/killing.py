"""Kills the command line again and again: `python killing.py` with a JSON object on stdin.

    arguments   of the command, {out} is replaced by the folder of its outputs
    out         a folder to make the folders of outputs in
    checkpoint  the checkpoint file
    file        the file that a kill in the phase of interest leaves: the checkpoint, or a file beside it
    kills       the least number of kills with SIGKILL, at random moments of the run; kills continue until a third of
                them have left that file
    seed        of those moments

Each attempt is a fork of this process, which has finished its imports, so that kills hit the work. A run that ends
before its kill is started again. Prints JSON: the number of kills, the number of kills that left the file, and the
folders of outputs; the first folder is that of an undisturbed run.
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
    """Runs the command and kills it after that many seconds; returns whether it ended before."""
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

    def is_complete(folder):
        """Whether the run was killed after all its work: the outputs exist and the checkpoint is gone."""
        return not os.path.exists(job["checkpoint"]) and files_in(folder) == made

    def files_in(folder):
        return {str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file()}

    made = files_in(folders[0])
    resumable = ["--quiet", "--checkpoint", job["checkpoint"], "--checkpoint-every", "0"]
    arguments = next_arguments()
    killed = with_file = 0
    while killed < job["kills"] or with_file < job["kills"] / 3:
        assert killed < 20 * job["kills"]
        if attempt([*arguments, *resumable], chance.uniform(0, usual)) or is_complete(folders[-1]):
            arguments = next_arguments()
            usual *= 0.9  # the machine may be faster now, or slower
        else:
            killed += 1
            left = os.path.exists(job["file"])
            with_file += left
            usual *= 1 if left else 1.05
    assert attempt([*arguments, *resumable])
    print(json.dumps({"kills": killed, "with_file": with_file, "folders": folders}))


main()
