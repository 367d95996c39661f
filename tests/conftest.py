import os
from importlib.util import find_spec

# Set before scipy is imported: without it scikit-learn skips one of its estimator checks.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

from hypothesis import settings

# No test fails because the machine is slow.
settings.register_profile("silverbirch", deadline=None)
settings.load_profile("silverbirch")

# `make test-recipes` and others install the packages that these tests are about.
NEEDED = {"recipes": "bertopic", "browser": "playwright", "real_engines": "pyspark"}
collect_ignore = [folder for folder, package in NEEDED.items() if not find_spec(package)]


def pytest_collection_modifyitems(items):
    """The pages first: one takes most of a minute, and no worker should be left with it at the end."""
    items.sort(key=lambda item: item.path.name != "test_docs.py")
