"""The table of docs/cosine.md; test_docs.py runs its examples."""

import json
from pathlib import Path

from benchmarks.runner import RESULTS
from benchmarks.studies.cosine import rendered

PAGE = Path(__file__).parents[1] / "docs" / "cosine.md"


def test_the_table_of_the_page_is_made_from_the_raw_rows():
    rows = (RESULTS / "cosine.jsonl").read_text(encoding="utf-8").splitlines()
    assert rendered([json.loads(row) for row in rows]) in PAGE.read_text(encoding="utf-8")
