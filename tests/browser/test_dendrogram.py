"""The picture of the dendrogram: which nodes it shows, how many, and where a click, a drag and a key lead."""

import numpy as np
import pytest

import dendrograms
import silverbirch as sb
from settling import NEXT_FRAME

DRAWN = "() => window.silverbirch.panels.dendrogramPanel.drawn"
STATE = "() => window.silverbirch.store.state"


def balanced(n):
    """Row i joins nodes 2i and 2i + 1."""
    Z, counts, done = np.zeros((n - 1, 4)), np.ones(2 * n - 1), 0
    while done < n - 1:
        end = min(n - 1, (n + done) // 2)  # rows whose children are there
        counts[n + done : n + end] = counts[2 * done : 2 * end].reshape(-1, 2).sum(axis=1)
        done = end
    Z[:, 0], Z[:, 1], Z[:, 2], Z[:, 3] = *np.arange(2 * n - 2).reshape(-1, 2).T, np.arange(1, n), counts[n:]
    return Z


def uneven(n):
    """Single linkage of random points on a line: chains, forks and everything between."""
    return sb.linkage(np.random.default_rng(0).random((n, 1)), "single")


SHAPES = {"balanced": balanced, "chain": dendrograms.chain, "uneven": uneven}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("small") / "page.html"
    X = dendrograms.points(60)
    dendrogram = sb.Dendrogram(sb.linkage(X, "average"), X)
    dendrogram.to_html(path)
    return path, dendrogram


def change(page, **state):
    page.evaluate("(state) => window.silverbirch.store.set(state)", state)
    page.evaluate(NEXT_FRAME)


def below(dendrogram, node):
    """All nodes below a node, and the node itself."""
    found, waiting = [], [node]
    while waiting:
        found.append(waiting.pop())
        if found[-1] >= dendrogram.n_leaves:
            waiting += dendrogram.Z[found[-1] - dendrogram.n_leaves, :2].astype(int).tolist()
    return sorted(found)


def test_a_small_tree_is_drawn_whole_and_so_is_each_of_its_branches(visit, small):
    path, dendrogram = small
    page = visit(path)
    for node in [dendrogram._hierarchy.root, *dendrogram.nodes(n_clusters=4)]:
        if node >= dendrogram.n_leaves:
            change(page, root=int(node), **{"from": 0, "to": 1})
            assert sorted(page.evaluate(DRAWN)) == below(dendrogram, int(node))


@pytest.mark.parametrize("side", ["top", "left"])
@pytest.mark.parametrize("scale", ["linear", "sqrt", "log"])
def test_every_direction_and_scale_draws_the_same_nodes(visit, small, side, scale):
    path, dendrogram = small
    page = visit(path, f"#side={side}&scale={scale}")
    assert sorted(page.evaluate(DRAWN)) == list(range(2 * dendrogram.n_leaves - 1))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_window_shows_its_own_nodes_and_all_forks_that_are_wide_enough(visit, tmp_path, shape):
    dendrogram = sb.Dendrogram(SHAPES[shape](20_000))
    dendrogram.to_html(tmp_path / "page.html")
    page = visit(tmp_path / "page.html")
    n, hierarchy = dendrogram.n_leaves, dendrogram._hierarchy
    first, count = hierarchy.first, hierarchy.count
    for window in [(0.0, 1.0), (0.25, 0.35), (0.5, 0.502)]:
        change(page, **dict(zip(("from", "to"), window, strict=True)))
        drawn = page.evaluate(DRAWN)
        assert len(drawn) == len(set(drawn))
        begin, end = n * window[0], n * window[1]
        assert ((first < end) & (first + count > begin))[drawn].all()
        in_window = np.minimum(first + count, end) - np.maximum(first, begin)
        four_pixels = 4 * (end - begin) / page.evaluate("document.querySelector('.stage').clientWidth")
        forks = n + np.flatnonzero((in_window[hierarchy.children] > four_pixels).all(axis=1))
        assert len(forks) > 0 or shape == "chain"
        assert set(forks) <= set(drawn)


WINDOWS = [
    {},
    {"from": 0.4, "to": 0.41},
    {"scale": "log"},
    {"scale": "sqrt", "side": "left"},
    {"cut": {"k": 500}},
]


@pytest.mark.parametrize("shape", ["balanced", "chain"])
def test_the_nodes_drawn_follow_the_pixels_and_not_the_leaves(visit, tmp_path, shape):
    for n in (1_000, 100_000, 1_000_000):
        sb.Dendrogram(SHAPES[shape](n)).to_html(tmp_path / "page.html")
        page = visit(tmp_path / "page.html")
        pixels = page.evaluate(
            "(({ clientWidth, clientHeight }) => clientWidth + clientHeight)(document.querySelector('.stage'))"
        )
        for state in WINDOWS:
            change(page, **{"from": 0, "to": 1, "scale": "linear", "side": "top"} | state)
            assert len(page.evaluate(DRAWN)) < 2 * pixels


# -- moving about


def point_of(page, position, height):
    """The point of the screen at a drawing position and a height."""
    place = page.evaluate(
        """([position, height]) => {
          const { geometry, stage } = window.silverbirch.panels.dendrogramPanel;
          const [along, depth] = [geometry.along(position), geometry.depth(geometry.scale.of(height))];
          const [x, y] = geometry.upright ? [along, depth] : [depth, along];
          const box = stage.getBoundingClientRect();
          return [box.left + x, box.top + y];
        }""",
        [position, height],
    )
    return place


def between_merges(dendrogram, k):
    """A height at which a level line gives k clusters."""
    return float(np.sort(dendrogram.Z[:, 2])[::-1][k - 2 : k].mean())


@pytest.mark.parametrize("side", ["top", "left"])
def test_a_click_on_a_branch_makes_it_the_root_and_the_trail_leads_back(visit, small, side):
    path, dendrogram = small
    page = visit(path, f"#side={side}")
    height = between_merges(dendrogram, 5)
    labels = dendrogram.cut(height=height)
    largest = int(dendrogram.nodes(labels)[0])
    page.mouse.click(*point_of(page, dendrogram._hierarchy.first[largest] + 1.5, height))
    page.evaluate(NEXT_FRAME)
    assert page.evaluate(STATE)["root"] == largest
    assert sorted(page.evaluate(DRAWN)) == below(dendrogram, largest)
    page.get_by_role("navigation", name="whole tree").get_by_role("button").first.click()
    page.evaluate(NEXT_FRAME)
    assert page.evaluate(STATE)["root"] == dendrogram._hierarchy.root


def test_a_dragged_line_cuts_where_it_is_left(visit, small):
    path, dendrogram = small
    page = visit(path, "#scale=linear")
    for k in (2, 5, 13):
        line = page.get_by_role("slider", name="Cut").bounding_box()
        page.mouse.move(line["x"] + 100, line["y"] + line["height"] / 2)
        page.mouse.down()
        page.mouse.move(*point_of(page, 20, between_merges(dendrogram, k)), steps=4)
        page.mouse.up()
        page.evaluate(NEXT_FRAME)
        assert page.evaluate(STATE)["cut"] == {"k": k}
        assert page.get_by_label("Number of clusters", exact=True).first.input_value() == str(k)


def test_the_field_and_the_slider_set_the_number_of_clusters(visit, small):
    path, dendrogram = small
    page = visit(path)
    field = page.get_by_role("spinbutton", name="Number of clusters")
    field.fill("7")
    assert page.evaluate(STATE)["cut"] == {"k": 7}
    field.fill("100000")
    field.press("Enter")
    assert page.evaluate(STATE)["cut"] == {"k": dendrogram.n_leaves}
    slider = page.get_by_role("slider", name="logarithmic")
    slider.focus()
    slider.press("Home")
    assert page.evaluate(STATE)["cut"] == {"k": 1}
    slider.press("ArrowRight")
    assert page.evaluate(STATE)["cut"] == {"k": 2}


def test_the_wheel_zooms_around_the_pointer(visit, small):
    path, _ = small
    page = visit(path)
    x, y = point_of(page, 40.0, 0.5)
    page.mouse.move(x, y)
    page.mouse.wheel(0, -300)
    page.wait_for_timeout(50)
    state = page.evaluate(STATE)
    assert 0 < state["from"] < state["to"] < 1
    assert point_of(page, 40.0, 0.5) == pytest.approx([x, y], abs=1.5)


def test_keys_move_the_cut_the_window_and_the_root(visit, small):
    path, dendrogram = small
    page = visit(path)
    page.get_by_role("group", name="Dendrogram").focus()
    root, k = dendrogram._hierarchy.root, page.evaluate(STATE)["cut"]["k"]
    for key, expected in [
        ("ArrowDown", k + 1),
        ("Shift+ArrowDown", k + 11),
        ("ArrowUp", k + 10),
        ("PageUp", (k + 10) // 2),
    ]:
        page.keyboard.press(key)
        page.evaluate(NEXT_FRAME)
        assert page.evaluate(STATE)["cut"] == {"k": expected}
    page.keyboard.press("+")
    page.evaluate(NEXT_FRAME)
    zoomed = page.evaluate(STATE)
    assert (zoomed["from"], zoomed["to"]) == (0.25, 0.75)
    page.keyboard.press("ArrowRight")
    page.evaluate(NEXT_FRAME)
    assert page.evaluate(STATE)["from"] > 0.25
    largest = int(dendrogram.nodes(n_clusters=5)[0])
    change(page, root=largest)
    page.keyboard.press("Escape")
    page.evaluate(NEXT_FRAME)
    assert page.evaluate(STATE)["root"] == root
    change(page, root=largest)
    page.keyboard.press("Home")
    page.evaluate(NEXT_FRAME)
    state = page.evaluate(STATE)
    assert (state["root"], state["from"], state["to"]) == (root, 0, 1)


def test_the_strip_below_the_leaves_has_the_colours_of_the_clusters(visit, small):
    path, dendrogram = small
    page = visit(path, "#k=6")
    nodes = dendrogram.nodes(n_clusters=6)
    middle = (dendrogram._hierarchy.first + dendrogram._hierarchy.count / 2)[nodes]
    shown, expected = page.evaluate(COLOURS, {"nodes": nodes.tolist(), "middle": middle.tolist()})
    assert shown == expected
    assert len(set(shown)) > 2


@pytest.mark.parametrize("side", ["top", "left"])
def test_a_selected_leaf_is_marked(visit, small, side):
    """A leaf that was searched for can be seen, although it has no height."""
    path, _ = small
    pictures = []
    for selected in ("", "&selected=3"):
        page = visit(path, f"#k=1&side={side}{selected}")
        pictures.append(page.evaluate("() => window.silverbirch.panels.dendrogramPanel.canvas.toDataURL()"))
    assert pictures[0] != pictures[1]


COLOURS = """({ nodes, middle }) => {
  const { panels, partition } = window.silverbirch;
  const { canvas, geometry } = panels.dendrogramPanel;
  const ratio = canvas.width / canvas.clientWidth;
  const colours = (context, y) => {
    const { data } = context.getImageData(0, y, context.canvas.width, 1);
    return (x) => data.slice(4 * Math.round(x), 4 * Math.round(x) + 3).join();
  };
  const strip = colours(canvas.getContext("2d"), (geometry.base + 4) * ratio);
  const style = getComputedStyle(document.querySelector(".explorer"));
  const probe = document.createElement("canvas").getContext("2d");
  nodes.forEach((node, i) => {
    probe.fillStyle = style.getPropertyValue(`--branch-${partition().colourOf(node)}`);
    probe.fillRect(i, 0, 1, 1);
  });
  const wanted = colours(probe, 0);
  return [middle.map((x) => strip(geometry.along(x) * ratio)), nodes.map((_, i) => wanted(i))];
}"""
