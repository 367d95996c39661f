"""World cities: single linkage finds how far one must go to get from place to place.

    python examples/world_cities.py [FOLDER] [--out FOLDER]

FOLDER holds cities.parquet (GeoNames, CC-BY 4.0). Needs silverbirch[plot,files] and pandas.
"""

import numpy as np
import pandas as pd
from gallery import COLOURS, INK, PALE, data_file, options, save
from matplotlib import pyplot as plt
from scipy.spatial import KDTree

import silverbirch as sb

EARTH = 6371.0  # km
LARGE = 1000  # places on either side of a bridge


def main():
    args = options(__doc__, needs_data=True)
    places = pd.read_parquet(data_file(args.data, "cities.parquet"))
    points = on_the_sphere(places)
    dendrogram = sb.Dendrogram(sb.linkage(points, "single", n_jobs=2))

    print(f"{len(places):,} places; a step is the way from a place to the next one")
    for step in (5, 10, 20, 50, 100, 200, 500):
        sizes = np.bincount(dendrogram.cut(height=chord(step)))
        print(f"steps of {step:3} km: {len(sizes):6,} groups, {sizes[0] / len(places):4.0%} of all in the largest")
    found = bridges(dendrogram, points)
    print(f"the longest steps between groups of at least {LARGE:,} places")
    for km, size, ends in found:
        names = " - ".join(f"{places['name'][end]} ({places['cc'][end]})" for end in ends)
        print(f"{km:4.0f} km: {names}, to {size:,} places")
    draw(places, dendrogram, found, args.out)
    dendrogram.to_html(args.out / "world-cities.html", title="World cities", coordinates=places[["lon", "lat"]])


def on_the_sphere(places):
    """Points in space, in km: neighbours stay neighbours near the poles and across the date line."""
    lat, lon = np.radians(places[["lat", "lon"]].to_numpy()).T
    return EARTH * np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)


def chord(km):
    """The straight line through the Earth between two points that are so far apart on its surface."""
    return 2 * EARTH * np.sin(km / (2 * EARTH))


def on_the_ground(height):
    return 2 * EARTH * np.arcsin(height / (2 * EARTH))


def bridges(dendrogram, points, count=18):
    """The last merges of two large groups: km, the size of the smaller group, and the places at both ends."""
    found, size = [], np.append(np.ones(len(points)), dendrogram.Z[:, 3])
    for *pair, height, _ in dendrogram.Z[::-1]:
        if size[np.array(pair, int)].min() >= LARGE and len(found) < count:
            small, large = sorted((dendrogram.subtree(int(node)).leaves for node in pair), key=len)
            distance, nearest = KDTree(points[large]).query(points[small])
            end = distance.argmin()
            found.append((on_the_ground(height), len(small), [small[end], large[nearest[end]]]))
    return found


def draw(places, dendrogram, found, out):
    figure, axes = plt.subplot_mosaic("ww;eg", figsize=(11, 8.2), layout="constrained", height_ratios=[1.35, 1])
    groups(axes["w"], places, dendrogram.cut(height=chord(50)), 0.7, aspect=1.15)
    axes["w"].set(xlim=(-165, 180), ylim=(-55, 72), title="Steps of 50 km hold these groups together")
    for km, _, ends in found[:7]:
        east = places.loc[max(ends, key=places["lon"].get), ["lon", "lat"]]
        axes["w"].plot(*east, "o", markersize=5, markeredgecolor=INK, markerfacecolor="none")
        axes["w"].annotate(f"{km:.0f} km", east, xytext=(5, 4), textcoords="offset points")
    groups(axes["e"], places, dendrogram.cut(height=chord(7)), 1.2, aspect=1.5)
    axes["e"].set(xlim=(-11, 32), ylim=(36, 59), title="Europe by steps of 7 km")
    largest = np.maximum.accumulate(dendrogram.Z[:, 3]) / len(places)
    axes["g"].step(on_the_ground(dendrogram.Z[:, 2]), largest, color=COLOURS[0], where="post")
    axes["g"].set(
        xscale="log", xlim=(2, 1000), ylim=(0, 1), xlabel="longest step, km", title="Share of the largest group"
    )
    for km, size, _ in found:
        if size > len(places) / 10:
            share = largest[np.searchsorted(dendrogram.Z[:, 2], chord(km)) - 2]
            axes["g"].annotate(f"{size:,} places \nby {km:.0f} km ", (km, share + 0.08), ha="right", fontsize=8)
    axes["g"].xaxis.set_major_formatter("{x:.0f}")
    axes["g"].yaxis.set_major_formatter("{x:.0%}")
    save(figure, out / "world-cities.png")


def groups(ax, places, labels, size, aspect):
    """A dot for each place, in colour for the ten largest groups."""
    colour = np.array([*COLOURS, PALE])[np.minimum(labels, len(COLOURS))]
    for part in (labels >= len(COLOURS), labels < len(COLOURS)):
        ax.scatter(places["lon"][part], places["lat"][part], s=size, c=colour[part], linewidths=0)
    ax.set_aspect(aspect)
    ax.set_axis_off()


if __name__ == "__main__":
    main()
