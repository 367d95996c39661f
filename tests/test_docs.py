"""The documentation shows what happens: every example on every page runs, or says why it does not."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from console_docs import PAGES, ROOT, run_page

# Values that depend on the run and the machine: seconds, memory, versions, times of files.
_MEASURED = [
    (r"(?m)^cost .*$", "cost"),
    (r'"(aggregate|cluster|label|write|total|merge|cut)": [\d.]+', r'"\1": 0'),
    (r'"(peak_memory_bytes|mtime_ns|bytes)": \d+', r'"\1": 0'),
    (r'"(silverbirch|python|kernels|numpy|scipy|scikit-learn|pyarrow)": "[^"]*"', r'"\1": ""'),
    (r'"content": "[0-9a-f]*"', '"content": ""'),  # pyarrow writes its version into files
    (r"(?m)^(bytes +)[\d,]+$", r"\1"),
    (r"(?m)^(measured, .*:) .*$", r"\1"),
]


def lasting(text):
    for pattern, replacement in _MEASURED:
        text = re.sub(pattern, replacement, text)
    return text


def pages_with(pattern):
    return [page for page in PAGES if re.search(pattern, page.read_text())]


def name(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", pages_with(r"(?m)^```(python|console)$"), ids=name)
def test_examples_print_what_the_page_shows(page):
    text = page.read_text()
    assert lasting(run_page(text)) == lasting(text)


@pytest.mark.parametrize("page", pages_with(r"(?m)^>>> "), ids=name)
def test_examples_with_prompts_are_true(page, tmp_path, monkeypatch):
    pytest.importorskip("pandas", "3")  # older ones call text by another name
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8", optionflags=doctest.ELLIPSIS)
    assert failed == 0
    assert tried > 0


def test_the_example_for_small_devices_needs_numpy_alone(tmp_path):
    page = (ROOT / "docs" / "small-devices.md").read_text()
    code = re.search(r"(?ms)^```python\n# weight\.py\n(.*?)^```", page)[1]
    out_of_reach = "import sys\nsys.modules.update(dict.fromkeys(['sklearn', 'scipy', 'pyarrow', 'matplotlib']))\n"
    path = os.pathsep.join(os.path.join(ROOT, part) for part in sys.path if part)
    subprocess.run(
        [sys.executable, "-c", out_of_reach + code], cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, check=True
    )


def test_the_ten_lines_of_the_readme_choose_and_name_clusters(tmp_path, monkeypatch):
    (code,) = re.findall(
        r'(?ms)^```python\n((?:(?!^```).)*?"packages\.parquet".*?)^```', (ROOT / "README.md").read_text()
    )
    assert len([line for line in code.splitlines() if line]) <= 10
    random = np.random.default_rng(0)
    group = np.arange(3000) % 6
    texts = [f"{['game', 'library', 'font', 'editor', 'compiler', 'server'][g]} {i}" for i, g in enumerate(group)]
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"description": texts}).to_parquet("packages.parquet")
    np.save("packages-minilm.npy", random.normal(size=(6, 16))[group] + 0.1 * random.normal(size=(3000, 16)))
    names = {}
    exec(code, names)
    assert names["suggestion"].n_clusters == 6
    named = [name.split()[0] for name in names["model"].clusters_.name]
    assert [named[label] for label in names["model"].labels_] == [text.split()[0] for text in texts]
    assert Path("packages.html").exists()


def test_an_output_that_is_not_true_is_noticed():
    page = "```python\nx = 2\nx + 1\n```\n```text\n4\n```\n"
    assert run_page(page) == page.replace("4", "3")


def test_a_block_of_python_that_fails_is_noticed():
    with pytest.raises(NameError):
        run_page("```python\nundefined\n```\n")
    run_page("<!-- not run: for this test -->\n```python\nundefined\n```\n")


def test_blocks_share_their_names_and_their_folder():
    page = "```python\nopen('a', 'w').write('b')\nx = 1\n```\n\n```python\nopen('a').read(), x\n```\n\n```text\n\n```\n"
    assert "('b', 1)" in run_page(page)
