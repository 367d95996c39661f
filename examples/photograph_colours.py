"""The colours of a photograph: one dendrogram of all its pixels holds every palette.

    python examples/photograph_colours.py [--photo flower.jpg] [--out FOLDER]

The photographs come with scikit-learn: china.jpg by danielbuechele, flower.jpg by vultilion, CC-BY 2.0. Needs
silverbirch[plot].
"""

import numpy as np
from gallery import GREY, dendrogram_of_clusters, options, save
from matplotlib import pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_sample_image

import silverbirch as sb

PALETTES = [4, 8, 16, 32]
SHOWN = 24  # branches in the dendrogram
XYZ = np.array([[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]])  # of linear sRGB
WHITE = XYZ.sum(axis=1)


def main():
    step = {"type": int, "default": 1, "help": "take one of so many rows and columns of the photograph"}
    args = options(__doc__, photo={"default": "china.jpg", "help": "china.jpg or flower.jpg"}, step=step)
    photo = load_sample_image(args.photo)[:: args.step, :: args.step]
    pixels = to_lab(photo.reshape(-1, 3) / 255)
    model = sb.Betula(SHOWN, n_jobs=2).fit(pixels)
    cuts = model.cut(n_clusters=PALETTES)

    different = len(np.unique(pixels, axis=0))
    print(f"{args.photo}: {len(pixels):,} pixels, {different:,} colours, {len(model.features_):,} leaves")
    print("mean distance of a pixel to its colour, in Lab (2.3 is just visible)")
    print("colours  palettes of one dendrogram  the same in RGB  k-means, fitted for each")
    in_rgb = sb.Betula(n_jobs=2).fit(photo.reshape(-1, 3).astype(float)).cut(n_clusters=PALETTES)
    for k, labels, others in zip(PALETTES, cuts.T, in_rgb.T, strict=True):
        k_means = KMeans(k, n_init=1, random_state=0).fit_predict(pixels)
        errors = [distance(pixels, found) for found in (labels, others, k_means)]
        print(f"{k:7}  {errors[0]:26.1f}  {errors[1]:15.1f}  {errors[2]:24.1f}")
    draw(photo, pixels, cuts, dendrogram_of_clusters(model), args.out)


def to_lab(rgb):
    """CIE L*a*b* of sRGB colours between 0 and 1: its distances are near to what people see (IEC 61966-2-1, D65)."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = linear @ XYZ.T / WHITE
    x, y, z = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29).T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def to_rgb(lab):
    y = (lab[:, 0] + 16) / 116
    f = np.stack([y + lab[:, 1] / 500, y, y - lab[:, 2] / 200], axis=-1)
    linear = (np.where(f > 6 / 29, f**3, 3 * (6 / 29) ** 2 * (f - 4 / 29)) * WHITE) @ np.linalg.inv(XYZ).T
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear.clip(0) ** (1 / 2.4) - 0.055).clip(0, 1)


def means(pixels, labels):
    return np.stack([np.bincount(labels, column) for column in pixels.T], axis=-1) / np.bincount(labels)[:, None]


def distance(pixels, labels):
    return np.linalg.norm(pixels - means(pixels, labels)[labels], axis=1).mean()


def draw(photo, pixels, cuts, tree, out):
    figure, axes = plt.subplot_mosaic("0123;dddd", figsize=(11, 5.2), height_ratios=[1, 1.5])
    figure.subplots_adjust(0.02, 0.03, 0.98, 0.95, wspace=0.04, hspace=0.06)
    pictures = [photo] + [to_rgb(means(pixels, labels))[labels].reshape(photo.shape) for labels in cuts.T[:3]]
    for place, (picture, title) in enumerate(zip(pictures, ["photograph", *PALETTES[:3]], strict=True)):
        axes[str(place)].imshow(picture)
        axes[str(place)].set_title(f"{title} colours" if place else title)
        axes[str(place)].set_axis_off()
    draw_palette(axes["d"], tree)
    save(figure, out / "photograph-colours.png")


def draw_palette(ax, tree):
    """The dendrogram of the clusters, each branch in the mean colour of its pixels, the shares of the pixels below."""
    colours = to_rgb(np.concatenate([tree.features.mean, tree.merged_features.mean]))
    height = np.sqrt(np.concatenate([np.zeros(SHOWN), tree.Z[:, 2]]))  # the last merges do not take all the space
    x = np.zeros(2 * SHOWN - 1)
    x[sb.dendrogram(tree.Z, no_plot=True)["leaves"]] = range(SHOWN)
    for node, pair in enumerate(tree.Z[:, :2].astype(int), start=SHOWN):
        x[node] = x[pair].mean()
        for child in pair:
            path = [x[child], x[child], x[node]], [height[child], height[node], height[node]]
            ax.plot(*path, color=GREY, linewidth=5.4, solid_joinstyle="miter", zorder=1)  # a rim for light colours
            ax.plot(*path, color=colours[child], linewidth=4, solid_joinstyle="miter", zorder=2)
    share = tree.features.weight / tree.features.weight.sum()
    depth = 2 * height[-1] * share
    ax.bar(x[:SHOWN], -depth, width=0.8, color=colours[:SHOWN], edgecolor=GREY, linewidth=0.6, zorder=3)
    for place, part, low in zip(x, share, depth, strict=False):
        ax.annotate(f"{part:.0%}", (place, -low), xytext=(0, -3), textcoords="offset points", ha="center", va="top")
    ax.margins(0.01, 0.06)
    ax.set_axis_off()


if __name__ == "__main__":
    main()
