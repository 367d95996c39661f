// The scatter of the leaves, or of the uppermost branches: discs on a canvas, coloured by the present cut.
import { h } from "./dom.js";
import { count } from "./format.js";
import { itemTexts } from "./items.js";
import { colours, onTheme } from "./palette.js";
import { called, filled, onWidth, quiet, section, toggle, unit } from "./parts.js";

const SCATTER_HEIGHT = 300, SCATTER_EDGE = 12;
const DENSITY = 2; // pixels of the canvas to one of the page: edges look smooth
const COVERED = 0.12; // the share of the picture that discs would cover if none overlapped
const FAINT = 31, STRONG = 191; // opacity of discs that are not selected, and of others
const REACH = 12; // pixels from the pointer to the disc that it means

/**
 * The cluster of each point, -1 for none. The points are the tips of a level cut, so that the nodes above them are the
 * last merges: going down through these, a node is in the cluster of its parent unless it is a cluster itself.
 * @param {import("./tree.js").Tree} tree
 * @param {ArrayLike<number>} nodes the node of each point
 * @param {function(number): boolean} isCluster
 */
export function clustersOfPoints({ root, parent }, nodes, isCluster) {
  const lowest = root - nodes.length + 2, above = new Int32Array(nodes.length); // of the last merges
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
  const label = "Scatter of the leaves in the colours of their clusters";
  const canvas = h("canvas", { role: "img", "aria-label": label, pointermove: point, pointerleave: point, click });
  const note = h("div", { class: "note", hidden: true });
  const order = nodes.map((_, i) => i).sort((a, b) => tree.weight[nodes[b]] - tree.weight[nodes[a]]); // small discs on top
  let discs = null, clusters = [];

  function draw() {
    if (!discs || !canvas.clientWidth) return; // not laid out yet, or removed
    const cut = view.partition(), { selected } = store.state, { branch, noise } = colours(canvas);
    const level = store.state.cut.k; // a point of several clusters of a level cut has the colour of the largest
    const blueGreenRed = [...branch, noise].map((hex) => Number.parseInt(hex.slice(5) + hex.slice(3, 5) + hex.slice(1, 3), 16));
    clusters = clustersOfPoints(tree, nodes, (node) => cut.has(node));
    drawDiscs(canvas, discs, order, (i) => {
      const node = nodes[i], top = clusters[i];
      const chosen = selected === null || tree.isWithin(node, selected) || tree.isWithin(selected, node);
      const colour = top >= 0 ? cut.colourOf(top) : level ? tree.colour[node] : branch.length;
      return ((chosen ? STRONG : FAINT) << 24) | blueGreenRed[colour];
    });
  }

  function under({ offsetX, offsetY }) {
    let found = -1, best = REACH;
    for (const i of order) {
      const gap = Math.hypot(discs.x[i] - offsetX, discs.y[i] - offsetY) - discs.radius[i];
      if (gap < best) [found, best] = [i, gap];
    }
    return found;
  }

  function point(event) {
    const i = event.type === "pointerleave" ? -1 : under(event);
    note.hidden = i < 0;
    if (note.hidden) return;
    const node = nodes[i], [item] = view.representatives(node), texts = item ? itemTexts(header, item) : [];
    const cluster = clusters[i] < 0 ? "in no cluster" : called(view, clusters[i]);
    const lines = [cluster, `${called(view, node, -1)}: ${count(tree.weight[node])} ${unit(view)}`, texts[0]];
    note.replaceChildren(...lines.map((line) => h("div", {}, line)));
    note.style.left = `${Math.max(0, Math.min(canvas.clientWidth - note.offsetWidth, discs.x[i] - note.offsetWidth / 2))}px`;
    note.style.top = `${discs.y[i] - note.offsetHeight - 16}px`;
  }

  function click(event) {
    const i = under(event);
    toggle(view, i < 0 ? null : clusters[i] < 0 ? nodes[i] : clusters[i]);
  }

  onTheme(draw);
  onWidth(canvas, (width) => {
    discs = placedDiscs(view, width);
    draw();
  });
  const [across, up] = header.scatter.labels, few = nodes.length < header.n;
  const what = few ? `The uppermost ${count(nodes.length)} branches` : "The leaves";
  const caption = quiet(`${what}; areas follow the ${unit(view)}. Across: ${across}. Up: ${up}.`);
  const element = section("scatter", "Scatter", h("div", { class: "plot" }, canvas, note), caption);
  return filled(element, ["cut", "selected"], draw, draw);
}

/** Centres and radii in pixels of the page, with one scale for both axes. */
function placedDiscs({ tree, data: { header: { scatter }, arrays } }, width) {
  const { scatter_node: nodes, scatter_xy: packed } = arrays;
  const [w, t] = [scatter.x, scatter.y].map(([low, high]) => high - low || 1);
  const scale = Math.min((width - 2 * SCATTER_EDGE) / w, (SCATTER_HEIGHT - 2 * SCATTER_EDGE) / t) / 65535;
  const area = (COVERED * width * SCATTER_HEIGHT) / (Math.PI * tree.weight[tree.root]); // of weight 1
  return {
    x: Float32Array.from(nodes, (_, i) => width / 2 + (packed[2 * i] - 32767) * w * scale),
    y: Float32Array.from(nodes, (_, i) => SCATTER_HEIGHT / 2 - (packed[2 * i + 1] - 32767) * t * scale),
    radius: Float32Array.from(nodes, (node) => Math.max(1, Math.min(9, Math.sqrt(area * tree.weight[node])))),
  };
}

/** Writes the discs to the pixels themselves: calls of the canvas for 25,000 discs would take longer than a frame. */
function drawDiscs(canvas, { x, y, radius }, order, pixelOf) {
  const width = (canvas.width = canvas.clientWidth * DENSITY), height = (canvas.height = SCATTER_HEIGHT * DENSITY);
  const image = new ImageData(width, height), pixels = new Uint32Array(image.data.buffer);
  for (const alpha of [FAINT, STRONG]) for (const i of order) {
    const pixel = pixelOf(i), r = radius[i] * DENSITY, cx = x[i] * DENSITY, cy = y[i] * DENSITY;
    if (pixel >>> 24 !== alpha) continue;
    for (let row = Math.ceil(cy - r); row <= cy + r; row++) {
      const half = Math.sqrt(r * r - (row - cy) ** 2), begin = row * width;
      for (let at = Math.ceil(cx - half); at <= cx + half; at++) pixels[begin + at] = pixel;
    }
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
}
