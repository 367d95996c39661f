// The scatter of the leaves, or of the uppermost branches: discs on a canvas, coloured by the present cut.
import { h } from "./dom.js";
import { count } from "./format.js";
import { itemTexts } from "./items.js";
import { colours, onTheme } from "./palette.js";
import { called, filled, noteAt, onWidth, quiet, section, toggle, unit } from "./parts.js";

const SCATTER_HEIGHT = 300;
const SCATTER_EDGE = 12;
const COVERED = 0.12; // the share of the picture that discs would cover if none overlapped
const LARGEST_DISC = 9, SMALL_DISC = 1.5;
const REACH = 12; // pixels from the pointer to the disc that it means

/**
 * The cluster of each point, -1 for none. The points are the tips of a level cut, so that the nodes above them are the
 * last merges: going down through these, a node is in the cluster of its parent unless it is a cluster itself.
 * @param {import("./tree.js").Tree} tree
 * @param {ArrayLike<number>} nodes the node of each point
 * @param {function(number): boolean} isCluster
 */
export function clustersOfPoints({ root, parent }, nodes, isCluster) {
  const lowest = root - nodes.length + 2; // of the last merges
  const above = new Int32Array(nodes.length);
  const clusterOf = (node) => {
    const outer = node === root ? -1 : above[parent[node] - lowest];
    return outer < 0 && isCluster(node) ? node : outer;
  };
  for (let node = root; node >= lowest; node--) above[node - lowest] = clusterOf(node);
  return Int32Array.from(nodes, clusterOf);
}

/** @param {object} view */
export function scatterPanel(view) {
  const { tree, store } = view, { header, arrays } = view.data, nodes = arrays.scatter_node;
  if (!nodes) return null;
  const canvas = h("canvas", { role: "img", "aria-label": "Scatter of the leaves in the colours of their clusters" });
  const note = h("div", { class: "note", hidden: true });
  const order = nodes.map((_, i) => i).sort((a, b) => tree.weight[nodes[b]] - tree.weight[nodes[a]]); // small discs on top
  let discs = { width: 0 }, clusters = [];

  function draw() {
    if (!discs.width) return;
    const cut = view.partition(), { selected } = store.state, { branch, noise } = colours();
    clusters = clustersOfPoints(tree, nodes, (node) => cut.has(node));
    const chosen = (node) => selected === null || tree.isWithin(node, selected) || tree.isWithin(selected, node);
    // A point that consists of several clusters of a level cut has its own colour, which is that of the largest.
    const own = store.state.cut.k ? (node) => tree.colour[node] : () => branch.length;
    const colourOf = (i) => (clusters[i] < 0 ? own(nodes[i]) : cut.colourOf(clusters[i]));
    drawDiscs(canvas, discs, order, [...branch, noise], colourOf, (i) => (chosen(nodes[i]) ? 191 : 31));
  }

  function under(event) {
    const { x, y, radius } = discs;
    let found = -1, best = REACH;
    for (let i = 0; i < nodes.length; i++) {
      const gap = Math.hypot(x[i] - event.offsetX, y[i] - event.offsetY) - radius[i];
      if (gap < best) [found, best] = [i, gap];
    }
    return found;
  }

  function point(event) {
    const i = under(event);
    canvas.style.cursor = i < 0 ? "" : "pointer";
    noteAt(note, discs.x[i], discs.y[i] - discs.radius[i], i < 0 ? null : discText(view, nodes[i], clusters[i]));
  }

  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerleave", () => noteAt(note));
  canvas.addEventListener("click", (event) => {
    const i = under(event);
    toggle(view, i < 0 ? null : clusters[i] < 0 ? nodes[i] : clusters[i]);
  });
  onTheme(draw);
  onWidth(canvas, (width) => {
    discs = placedDiscs(view, width);
    draw();
  });
  const [across, up] = header.scatter.labels ?? [];
  const what = nodes.length < header.n ? `The uppermost ${count(nodes.length)} branches` : "The leaves";
  const caption = `${what}; areas follow the ${unit(view)}.${across ? ` Across: ${across}. Up: ${up}.` : ""}`;
  const element = section("scatter", "Scatter", h("div", { class: "plot" }, canvas, note), quiet(caption));
  return filled(element, ["cut", "selected"], draw, draw);
}

/** Centres and radii in pixels. Both axes have one scale, unless the picture would be a strip. */
function placedDiscs({ tree, data: { header: { scatter }, arrays } }, width) {
  const { scatter_node: nodes, scatter_xy: packed } = arrays;
  const [w, t] = [scatter.x, scatter.y].map(([low, high]) => high - low || 1);
  let sx = (width - 2 * SCATTER_EDGE) / w, sy = (SCATTER_HEIGHT - 2 * SCATTER_EDGE) / t;
  if (Math.max(sx / sy, sy / sx) < 4) sx = sy = Math.min(sx, sy);
  const area = (COVERED * width * SCATTER_HEIGHT) / (Math.PI * tree.weight[tree.root] || 1); // of weight 1
  const radiusOf = (node) => Math.max(1, Math.min(LARGEST_DISC, Math.sqrt(area * tree.weight[node])));
  return {
    width,
    x: Float32Array.from(nodes, (_, i) => width / 2 + (packed[2 * i] / 65535 - 0.5) * w * sx),
    y: Float32Array.from(nodes, (_, i) => SCATTER_HEIGHT / 2 - (packed[2 * i + 1] / 65535 - 0.5) * t * sy),
    radius: Float32Array.from(nodes, radiusOf),
  };
}

/** Draws discs, large ones first. Of small ones there may be many: they are squares, written to the pixels themselves. */
function drawDiscs(canvas, { width, x, y, radius }, order, palette, colourOf, alphaOf) {
  const ratio = Math.min(2, devicePixelRatio), context = canvas.getContext("2d", { willReadFrequently: true });
  canvas.width = width * ratio;
  canvas.height = SCATTER_HEIGHT * ratio;
  const large = order.filter((i) => radius[i] >= SMALL_DISC);
  for (const i of large) {
    context.beginPath();
    context.arc(x[i] * ratio, y[i] * ratio, radius[i] * ratio, 0, 7);
    context.fillStyle = palette[colourOf(i)];
    context.globalAlpha = alphaOf(i) / 255;
    context.fill();
  }
  const image = context.getImageData(0, 0, canvas.width, canvas.height), pixels = new Uint32Array(image.data.buffer);
  const across = image.width;
  const turned = palette.map((hex) => Number.parseInt(hex.slice(5) + hex.slice(3, 5) + hex.slice(1, 3), 16)); // blue, green, red
  for (let place = large.length; place < order.length; place++) {
    const i = order[place], side = Math.round(2 * radius[i] * ratio);
    const pixel = (alphaOf(i) << 24) | turned[colourOf(i)];
    const begin = Math.round(y[i] * ratio) * across + Math.round(x[i] * ratio);
    for (let row = 0; row < side; row++) for (let at = 0; at < side; at++) pixels[begin + row * across + at] = pixel;
  }
  context.putImageData(image, 0, 0);
}

function discText(view, node, cluster) {
  const { tree } = view, [item] = view.representatives(node);
  const size = `${count(tree.weight[node])} ${unit(view)}`;
  const texts = item ? itemTexts(view.data.header, item).slice(0, 1) : [];
  return [cluster < 0 ? "in no cluster" : called(view, cluster), called(view, node, -1), size, ...texts];
}
