"""Runs a command on a terminal and tells what its user sees."""

import os
import pty
import re
import subprocess
import sys

_STEP = re.compile(r"\x1b\[(\d*)A|\x1b\[2K|\x1b\[[?\d;]*[a-zA-Z]|\r|\n|[^\x1b\r\n]+")


def errors_on_terminal(*arguments, columns=100):
    """Runs silverbirch with a terminal for its errors and its progress; returns all that it wrote there."""
    terminal, its_end = pty.openpty()
    environment = os.environ | {"COLUMNS": str(columns), "TERM": "xterm", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "silverbirch", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=its_end, env=environment)
    os.close(its_end)
    shown = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(terminal)
    assert process.wait(60) == 0
    return shown.decode()


def lines_left(written):
    """The lines on the screen at the end: texts overwrite, the cursor goes up, lines are erased."""
    lines, row, column = [""], 0, 0
    for step in _STEP.finditer(written):
        text = step[0]
        if text == "\r":
            column = 0
        elif text == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif text == "\x1b[2K":
            lines[row] = ""
        elif text.endswith("A") and text[0] == "\x1b":
            row = max(0, row - int(step[1] or 1))
        elif text[0] != "\x1b":
            line = lines[row].ljust(column)
            lines[row] = line[:column] + text + line[column + len(text) :]
            column += len(text)
    return [line.rstrip() for line in lines if line.strip()]
