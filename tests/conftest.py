import os

# Before scipy is imported: scikit-learn leaves out one of its estimator checks where this is not set.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

from hypothesis import settings

# A busy machine is no failure: there are no timings in tests.
settings.register_profile("silverbirch", deadline=None)
settings.load_profile("silverbirch")
