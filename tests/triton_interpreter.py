"""Runs Python with Triton's interpreter in place of its compiler: kernels work on tensors in main memory, slowly."""

import os
import subprocess
import sys
from pathlib import Path

# NumPy 2.4 no longer converts an array of one number, which is what the interpreter's scalars are, to an integer.
_PREAMBLE = """
import triton.runtime.interpreter as interpreter
patch = interpreter._patch_lang_tensor
def with_index(tensor, scope):
    patch(tensor, scope)
    scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))
interpreter._patch_lang_tensor = with_index
"""


def interpret(script, *arguments):
    """Runs the script with the helpers of the tests on its path; raises if it fails."""
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    environment = os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": path}
    command = [sys.executable, "-W", "ignore", "-c", _PREAMBLE + script, *arguments]
    subprocess.run(command, env=environment, check=True, timeout=900)
