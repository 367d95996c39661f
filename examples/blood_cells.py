"""Blood cells: clusters of single cells against the types they were given, and the genes that mark each cluster.

    python examples/blood_cells.py [--out FOLDER]

The cells come with scanpy: 700 of the 68 000 of Zheng et al. 2017 (doi:10.1038/ncomms14049, CC-BY 4.0). Needs
silverbirch[plot], pandas and scanpy.
"""

import numpy as np
import pandas as pd
import scanpy
from gallery import COLOURS, GREY, options, save
from matplotlib import patheffects
from matplotlib import pyplot as plt
from sklearn.metrics import adjusted_rand_score

import silverbirch as sb

CLUSTERS, GENES = 8, 3  # genes of each cluster


def main():
    args = options(__doc__)
    cells = scanpy.datasets.pbmc68k_reduced()
    true = cells.obs["bulk_labels"].to_numpy()
    print(f"{cells.n_obs} cells, agreement of {CLUSTERS} clusters with their types (adjusted Rand index)")
    for linkage in ("ward", "average", "complete"):
        for metric in ("euclidean", "correlation"):
            found = sb.Betula(CLUSTERS, linkage=linkage, metric=metric).fit_predict(cells.obsm["X_pca"])
            print(f"{linkage:8} {metric:11} {adjusted_rand_score(true, found):5.2f}, largest {np.bincount(found)[0]}")
    print(f"louvain, as published    {adjusted_rand_score(true, cells.obs['louvain']):5.2f}")

    model = sb.Betula(CLUSTERS).fit(cells.obsm["X_pca"])
    expression = pd.DataFrame(cells.raw.X.toarray(), columns=cells.raw.var_names)
    scaled = (expression - expression.mean()) / expression.std()
    means = scaled.groupby(model.labels_).mean()
    genes = {cluster: list(means.loc[cluster].nlargest(GENES).index) for cluster in means.index}
    names = pd.Series(true).groupby(model.labels_).agg(lambda types: types.value_counts().index[0])
    model.name_clusters([f"{names[cluster]}: {', '.join(genes[cluster])}" for cluster in range(CLUSTERS)])
    print(pd.crosstab(pd.Series(true, name="type"), pd.Series(model.labels_, name="cluster")).to_string())
    print(model.clusters_.to_pandas()[["rows", "name"]].to_string())
    draw(cells, model, scaled, genes, args.out)
    page, umap = args.out / "blood-cells.html", cells.obsm["X_umap"]
    sb.write_report(page, model, title="Blood cells", show={"type": true}, coordinates=umap, force=True)
    print(f"written: {page}")


def cluster_of_nodes(Z, labels):
    """The cluster of each node of the dendrogram, -1 above the clusters."""
    cluster = [*labels]
    for left, right in Z[:, :2].astype(int):
        cluster.append(cluster[left] if cluster[left] == cluster[right] else -1)
    return cluster


def draw(cells, model, scaled, genes, out):
    figure, axes = plt.subplot_mosaic("ud;uh", figsize=(12, 6.4), height_ratios=[1, 3.4], width_ratios=[1, 1.25])
    figure.subplots_adjust(0.01, 0.02, 0.99, 0.95, wspace=0.14, hspace=0.02)
    Z = sb.linkage(cells.obsm["X_pca"], "ward")  # of the cells themselves
    order = sb.dendrogram(Z, no_plot=True)["leaves"]
    clusters = pd.unique(model.labels_[order])  # from left to right
    colours = dict(zip(clusters, COLOURS, strict=False)) | {-1: GREY}
    cluster = cluster_of_nodes(Z, model.labels_)
    sb.dendrogram(Z, ax=axes["d"], no_labels=True, link_color_func=lambda node: colours[cluster[node]])
    plt.setp(axes["d"].collections, linewidth=0.8)
    axes["d"].set_title(f"Cells in columns, the {GENES} genes that mark each cluster in rows")

    umap = cells.obsm["X_umap"]
    axes["u"].scatter(*umap.T, s=12, c=[colours[label] for label in model.labels_], linewidths=0)
    axes["u"].set_title("Ward's clusters on scanpy's UMAP: the most frequent type, the first gene")
    for cluster in clusters:
        kind, _, gene = model.clusters_.name[cluster].split(",")[0].partition(": ")
        rim = [patheffects.withStroke(linewidth=3, foreground="white")]
        place = np.median(umap[model.labels_ == cluster], axis=0)
        axes["u"].text(*place, f"{kind}\n{gene}", ha="center", va="center", fontsize=8, path_effects=rim)
    rows = [gene for cluster in clusters for gene in genes[cluster]]
    axes["h"].imshow(scaled[rows].iloc[order].T, cmap="Blues", vmin=0, vmax=3, aspect="auto", interpolation="nearest")
    axes["h"].set_yticks(range(len(rows)), rows, fontsize=8)
    axes["h"].set_xticks([])
    axes["h"].tick_params(length=0)
    for cluster, label in zip(np.repeat(clusters, GENES), axes["h"].get_yticklabels(), strict=True):
        label.set_color(colours[cluster])
    axes["h"].spines[:].set_visible(False)
    axes["u"].set_axis_off()
    axes["d"].set_axis_off()
    save(figure, out / "blood-cells.png")


if __name__ == "__main__":
    main()
