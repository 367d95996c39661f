"""What is in 30 000 Debian packages: clusters of their one-line descriptions, with names.

    python examples/package_descriptions.py [FOLDER] [--clusters 30] [--out FOLDER]

FOLDER holds packages.parquet (name, section, description) and packages-minilm.npy, the descriptions as embeddings of
all-MiniLM-L6-v2 in the same order. Needs silverbirch[plot,files] and pandas.
"""

import numpy as np
import pandas as pd
from gallery import data_file, options, save
from matplotlib import pyplot as plt
from sklearn.feature_extraction.text import CountVectorizer

import silverbirch as sb

WORDS = 3  # in a name
COMMON = ["library", "libraries", "development", "files", "documentation", "package", "module", "tool", "tools", "data"]


def main():
    args = options(__doc__, needs_data=True, clusters={"type": int, "default": 30, "help": "the number of clusters"})
    packages = pd.read_parquet(data_file(args.data, "packages.parquet"))
    rows = np.load(data_file(args.data, "packages-minilm.npy")).astype(np.float32)
    model = sb.Betula(args.clusters, metric="cosine", n_jobs=2).fit(rows)
    texts = packages["description"].to_numpy()
    model.name_clusters(distinguishing_words(texts, model.labels_))

    nearest = model.representatives(rows, n=1).index[:, 0]
    shown = pd.DataFrame(
        {"rows": model.clusters_.rows, "rmsd": model.clusters_.rmsd.round(2), "name": model.clusters_.name}
    )
    print(shown.assign(description=texts[nearest]).to_string(max_colwidth=60))
    sections = pd.Series(packages["section"].to_numpy()).groupby(model.labels_)
    purity = sections.agg(lambda found: found.value_counts(normalize=True).iloc[0])
    wide = model.clusters_.rmsd > np.median(model.clusters_.rmsd)
    tight, wide = purity[~wide].mean(), purity[wide].mean()
    print(
        f"rows of the most frequent section: {tight:.0%} in the tight half of the clusters, {wide:.0%} in the wide half"
    )
    draw(model, args.out)
    page, shown = args.out / "package-descriptions.html", {"name": packages["name"], "description": texts}
    sb.write_report(page, model, title="Debian packages by description", rows=rows, show=shown, force=True)
    print(f"written: {page}")


def distinguishing_words(texts, labels):
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


def different(words):
    """The words without those that only continue another one: "game", but not "games" too."""
    return [word for word in words if not any(word != other and word.startswith(other) for other in words)]


def draw(model, out):
    figure, ax = plt.subplots(figsize=(9, 8), layout="constrained")
    count = model.n_clusters_
    model.dendrogram_.plot(ax, max_leaves=count, n_clusters=count, orientation="left", cut_line=False)
    ax.set(ylabel="", title=f"{count} clusters of Debian packages, named by the words of their descriptions")
    save(figure, out / "package-descriptions.png")


if __name__ == "__main__":
    main()
