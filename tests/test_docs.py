"""The documentation shows what the commands print."""

import re

import pytest

from console_docs import PAGES, run_page

# Values that depend on the run and the machine: seconds, memory, versions, times of files.
_MEASURED = [
    (r"(?m)^cost .*$", "cost"),
    (r'"(aggregate|cluster|label|write|total|merge|cut)": [\d.]+', r'"\1": 0'),
    (r'"(peak_memory_bytes|mtime_ns|bytes)": \d+', r'"\1": 0'),
    (r'"(silverbirch|python|kernels|numpy|scipy|scikit-learn|pyarrow)": "[^"]*"', r'"\1": ""'),
    (r'"content": "[0-9a-f]*"', '"content": ""'),  # pyarrow writes its version into files
    (r"(?m)^(bytes +)[\d,]+$", r"\1"),
]


def lasting(text):
    for pattern, replacement in _MEASURED:
        text = re.sub(pattern, replacement, text)
    return text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_print_what_the_page_shows(page):
    text = page.read_text()
    assert lasting(run_page(text)) == lasting(text)
