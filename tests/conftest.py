import os

# Before scipy is imported: scikit-learn leaves out one of its estimator checks where this is not set.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
os.environ.setdefault("MPLBACKEND", "Agg")
