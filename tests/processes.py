"""The command line as processes of its own, to send signals to."""

import signal
import subprocess
import sys
import time

TO_END = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def started(arguments, *, stdin=None, stderr=subprocess.PIPE, code=None, ignored=()):
    """The command as a process that dies by signals, whatever the process that runs the tests ignores (nohup)."""

    def reset():
        for number in TO_END:
            signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)

    program = ["-m", "silverbirch"] if code is None else ["-c", code]
    command = [sys.executable, *program, *map(str, arguments)]
    return subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, text=True, preexec_fn=reset)


def wait_for(process, exists):
    while not exists():
        assert process.poll() is None
        time.sleep(0.002)
