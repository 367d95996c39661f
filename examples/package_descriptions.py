"""What is in 30 000 Debian packages: clusters of their one-line descriptions, with names.

    python examples/package_descriptions.py FOLDER [-k 30] [--out packages.html]

FOLDER holds packages.parquet (name, section, description) and packages-minilm.npy, the descriptions as embeddings of
all-MiniLM-L6-v2 in the same order. Needs silverbirch[cli] and pandas. Prints the clusters with the words that set them
apart and a description that stands for each; writes a report and a picture of the hierarchy.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer

import silverbirch as sb

WORDS = 3  # in a name
COMMON = ["library", "libraries", "development", "files", "documentation", "package", "module", "tool", "tools", "data"]


def main() -> None:
    arguments = parsed()
    packages, rows = read(arguments.folder)
    model = sb.Betula(n_clusters=arguments.k, metric="cosine", n_jobs=-1, progress=True).fit(rows)
    texts = packages["description"].to_numpy()
    model.name_clusters(distinguishing_words(texts, model.labels_))

    nearest = model.representatives(rows, n=1).index[:, 0]
    shown = pd.DataFrame({"rows": model.clusters_.rows, "name": model.clusters_.name, "description": texts[nearest]})
    print(shown.to_string(max_colwidth=60))
    print(model.choose_k())

    sb.write_report(arguments.out, model, title="Debian packages by their descriptions", force=True)
    axes = model.dendrogram_.plot(max_leaves=arguments.k, n_clusters=arguments.k)
    axes.figure.set_size_inches(12, 6)
    axes.figure.savefig(arguments.out.with_suffix(".png"), dpi=120, bbox_inches="tight")
    print(f"written: {arguments.out}, {arguments.out.with_suffix('.png')}")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="the folder of packages.parquet and packages-minilm.npy")
    parser.add_argument("-k", type=int, default=30, help="the number of clusters")
    parser.add_argument("--out", type=Path, default=Path("packages.html"), help="the report to write")
    return parser.parse_args()


def read(folder: Path) -> tuple[pd.DataFrame, np.ndarray]:
    """The table of the packages and the embedding of each."""
    try:
        packages = pd.read_parquet(folder / "packages.parquet")
        rows = np.load(folder / "packages-minilm.npy").astype(np.float32)
    except FileNotFoundError as error:
        sys.exit(f"{error.filename} is not there: give the folder that holds packages.parquet and packages-minilm.npy")
    return packages, rows


def distinguishing_words(texts: np.ndarray, labels: np.ndarray) -> list[str]:
    """For each cluster the words that are frequent in it and rare elsewhere.

    Words are weighted by class-based TF-IDF, as BERTopic does (Grootendorst 2022, arXiv:2203.05794).
    """
    together = [" ".join(texts[labels == label]) for label in range(labels.max() + 1)]
    counter = CountVectorizer(stop_words="english", token_pattern=r"(?u)\b[a-zA-Z][\w+#]+\b")
    counts = counter.fit_transform(together).toarray()
    words = counter.get_feature_names_out()
    counts[:, np.isin(words, COMMON)] = 0
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    weight = share * np.log1p(counts.sum() / len(counts) / np.maximum(counts.sum(axis=0), 1))
    return [", ".join(different(words[order])[:WORDS]) for order in np.argsort(-weight, axis=1)[:, : 5 * WORDS]]


def different(words: np.ndarray) -> list[str]:
    """The words without those that only continue another one: "game", but not "games" too."""
    return [word for word in words if not any(word != other and word.startswith(other) for other in words)]


if __name__ == "__main__":
    main()
