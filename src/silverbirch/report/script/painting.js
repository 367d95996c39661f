// Paints a frame of the dendrogram: axis, branches, the colours of the clusters below them, labels and names.
import { drawBranches, NOISE } from "./drawing.js";
import { count } from "./format.js";
import { colours } from "./palette.js";
import { ticksOf, tickText } from "./scales.js";

const NARROW = 1.5; // pixels: narrower branches are not drawn one by one
const NAMED = 11; // pixels for a leaf: enough for its name
const NAMES = 92; // pixels for the names of leaves
const STRIP = 5; // pixels: the colours of the clusters below the leaves
const LETTER = 6; // pixels: a letter of the labels, on average
const FONT = "11px system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', sans-serif";

/**
 * Where things lie. `along` runs over the leaves, `depth` from the top of the tree to the leaves, in pixels:
 * x and y if the root is at the top, y and x if it is at the left.
 */
export function geometryOf({ side, width, height, from, to, scale }) {
  const upright = side === "top";
  const start = upright ? 50 : 26, above = 12;
  const length = Math.max(10, (upright ? width : height) - start - 8);
  const perLeaf = length / (to - from);
  const names = perLeaf < NAMED ? 0 : NAMES;
  const deep = Math.max(10, (upright ? height : width) - above - STRIP - names - (upright ? 40 : Math.min(126, width / 4)));
  return {
    upright, start, length, perLeaf, names, deep, from, to, scale,
    base: above + deep,
    least: NARROW / perLeaf,
    along: (position) => Math.min(Math.max(start + (position - from) * perLeaf, start - 9), start + length + 9),
    depth: (t) => above + (1 - t) * deep,
    /** The drawing position and the height (on the scale) at a point of the canvas. */
    at: ({ x, y }) => ({ position: from + ((upright ? x : y) - start) / perLeaf, t: 1 - ((upright ? y : x) - above) / deep }),
  };
}

/** Where the line of a cut lies on the scale: midway between the merges that it separates; Infinity if there is no line. */
export function lineOf(tree, cut, { of }) {
  if (cut.limit === undefined) return Infinity;
  const [lower, upper] = tree.heightsOfCut(cut.k).map(of);
  return (lower + Math.min(upper, Math.max(1, lower))) / 2;
}

/**
 * Paints a frame; if `hurried`, without labels.
 * @returns {number[]} the nodes drawn
 */
export function paint(canvas, view, geometry, { width, height, root, hurried }) {
  const sharpness = globalThis.devicePixelRatio || 1;
  const [wide, high] = [width, height].map((size) => Math.round(size * sharpness));
  if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
  const context = canvas.getContext("2d"), palette = colours(canvas);
  const ink = [...palette.branch, palette.trunk, palette.noise];
  const axes = () => context.setTransform(...(geometry.upright ? [sharpness, 0, 0, sharpness] : [0, sharpness, sharpness, 0]), 0, 0);
  /** Text at a point of the tree; on its side if `turned`, readable above lines if they are `crossed`. */
  const write = (text, along, depth, colour, align, { turned, crossed } = {}) => {
    const [x, y] = geometry.upright ? [along, depth] : [depth, along];
    context.setTransform(...(turned ? [0, -sharpness, sharpness, 0] : [sharpness, 0, 0, sharpness]), x * sharpness, y * sharpness);
    Object.assign(context, { fillStyle: colour, textAlign: align, strokeStyle: palette.paper, lineWidth: 4, lineJoin: "round" });
    if (crossed) context.strokeText(text, 0, 0);
    context.fillText(text, 0, 0);
    axes();
  };
  const brush = { context, palette, ink, sharpness, write };
  axes();
  context.clearRect(0, 0, Math.max(width, height), Math.max(width, height));
  Object.assign(context, { font: FONT, textBaseline: "middle" });
  paintAxis(brush, geometry);
  paintMarked(brush, geometry, view);
  const drawn = paintBranches(brush, geometry, view, root);
  paintClusters(brush, geometry, view, hurried);
  if (geometry.names) paintLeafNames(brush, geometry, view);
  paintNames(brush, geometry, view, drawn);
  return drawn;
}

function paintAxis({ context, palette, write }, { upright, scale, depth, deep, start, length }) {
  for (const tick of ticksOf(scale, (upright ? 34 : 60) / deep)) {
    const d = Math.round(depth(scale.of(tick)));
    context.fillStyle = palette.rule;
    context.fillRect(start - 4, d, length + 4, 1);
    write(tickText(tick), start - (upright ? 8 : 14), d + 0.5, palette.quiet, upright ? "right" : "center");
  }
}

/** A band behind the selected and the compared branch; that of a leaf, which has no height, reaches up to its parent. */
function paintMarked({ context, palette }, { along, depth, scale, base }, { tree, store }) {
  context.fillStyle = palette.tint;
  for (const v of [store.state.selected, store.state.compared]) {
    if (v === null) continue;
    const top = tree.height[tree.isLeaf(v) ? tree.parent[v] : v];
    const a = along(tree.first[v]), d = Math.max(0, depth(scale.of(top)));
    context.fillRect(a, d, Math.max(2, along(tree.first[v] + tree.count[v]) - a), base - d);
  }
}

/** All lines are rectangles on whole pixels: they are sharp, and quicker than strokes by far where no GPU helps. */
function paintBranches({ context, ink, sharpness }, geometry, { tree, partition }, root) {
  const { start, length, along, depth, base, deep, scale } = geometry;
  const lines = ink.map(() => []), fills = ink.map(() => []);
  const thick = Math.max(1, Math.round(1.2 * sharpness)) / sharpness;
  const sharp = (value) => Math.round((value - thick / 2) * sharpness) / sharpness;
  const pen = {
    bar(left, right, t, colour) {
      const a = sharp(along(left));
      lines[colour].push([a, sharp(depth(t)), sharp(along(right)) - a + thick, thick]);
    },
    stem(x, upper, lower, colour) {
      const d = sharp(depth(upper));
      lines[colour].push([sharp(along(x)), d, thick, sharp(depth(lower)) - d + thick]);
    },
    fill(left, right, upper, lower, colour) {
      const a = along(left), d = depth(upper);
      fills[colour].push([a, d, Math.max(along(right) - a, thick), depth(lower) - d]);
    },
  };
  const cut = partition();
  const drawn = drawBranches(tree, cut, { ...geometry, root, step: 1 / deep, above: 1.1, cutAt: lineOf(tree, cut, scale) }, pen);
  context.save();
  context.beginPath();
  context.rect(start - 1, 0, length + 2, base + 1);
  context.clip();
  ink.forEach((colour, i) => {
    context.fillStyle = colour;
    context.globalAlpha = 0.35;
    for (const box of fills[i]) context.fillRect(...box);
    context.globalAlpha = 1;
    for (const box of lines[i]) context.fillRect(...box);
  });
  context.restore();
  return drawn;
}

/** The clusters below the leaves: a strip of their colours; labels, and names or rows, where there is room. */
function paintClusters({ context, ink, palette, sharpness, write }, { upright, along, base, names, ...geometry }, view, hurried) {
  const { tree, name } = view, cut = view.partition(), { selected, compared } = view.store.state;
  const runs = runsOf(tree, cut, geometry).map(({ node, from, to }) => ({ node, a: along(from), b: along(to) }));
  for (const { node, a, b } of runs) {
    const gap = b - a > 4 ? 0.5 : 0;
    context.fillStyle = ink[node < 0 ? NOISE : cut.colourOf(node)];
    context.fillRect(a + gap, base + 3, b - a - 2 * gap, STRIP);
  }
  context.fillStyle = palette.ink;
  for (const v of [selected, compared]) {
    const first = tree.first[v], end = first + tree.count[v], a = along(first);
    if (first < geometry.to && end > geometry.from) context.fillRect(a, base + STRIP + 4, Math.max(2, along(end) - a), 2);
  }
  const wide = runs.filter(({ node, a, b }) => !hurried && node >= 0 && b - a >= 11); // labels need a pass over all clusters
  const labels = cut.labelsOf(wide.map(({ node }) => node));
  const d = base + STRIP + names + 13;
  wide.forEach(({ node, a, b }, i) => {
    const label = String(labels[i]), middle = (a + b) / 2;
    const fits = (text) => context.measureText(text).width + 3 <= b - a;
    context.font = `600 ${FONT}`;
    if (upright && !fits(label)) return;
    write(label, middle, d, palette.ink, upright ? "center" : "left");
    context.font = FONT;
    const start = d + 12 + LETTER * label.length; // of a text beside the label
    const full = name(node) ?? count(tree.weight[node]);
    const room = (upright ? b - a : context.canvas.width / sharpness - start) / (LETTER + 1);
    const text = upright && fits(full) ? full : name(node) && room > 5 ? shortened(full, room) : upright ? "" : full;
    if (upright) write(text, middle, d + 14, palette.quiet, "center");
    else write(text, middle, start, palette.quiet, "left");
  });
}

/** The clusters along the window: [{node, from, to}] in drawing positions, one for each stretch of pixels; node -1 is noise. */
function runsOf({ leaf, first, count: leaves }, cut, { from, to, length }) {
  const runs = [], step = (to - from) / Math.ceil(length);
  for (let position = from; position < to; ) {
    const node = cut.topOf(leaf[Math.floor(position)]);
    const end = Math.min(to, Math.max(position + step, node < 0 ? 0 : first[node] + leaves[node]));
    if (runs.at(-1)?.node === node) runs.at(-1).to = end;
    else runs.push({ node, from: position, to: end });
    position = end;
  }
  return runs;
}

/** The names of leaves; those of a selected and of a compared leaf stand out. */
function paintLeafNames({ context, palette, write }, { upright, from, to, along, base }, { tree, name, store }) {
  const { selected, compared } = store.state, align = upright ? "right" : "left";
  for (let position = Math.ceil(from - 0.5); position + 0.5 < to; position++) {
    const leaf = tree.leaf[position], marked = leaf === selected || leaf === compared;
    const text = shortened(name(leaf) ?? String(leaf), NAMES / (LETTER + 1));
    context.font = marked ? `600 ${FONT}` : FONT;
    write(text, along(position + 0.5), base + STRIP + 8, marked ? palette.ink : palette.quiet, align, { turned: upright });
  }
  context.font = FONT;
}

/** Names of branches that are no clusters of the present cut, beside their stems, where no other name is. */
function paintNames({ context, palette, write }, { upright, along, depth, scale, from, to }, { tree, partition, name }, drawn) {
  const cut = partition(), taken = [];
  for (const v of drawn) {
    const full = tree.isLeaf(v) || cut.has(v) || tree.x[v] < from || tree.x[v] > to ? null : name(v);
    if (full === null) continue;
    const text = shortened(full, 30), wide = context.measureText(text).width;
    const a = along(tree.x[v]), d = depth(scale.of(tree.height[v]));
    const [x, y] = upright ? [a, d - 8] : [d, a - 8];
    const left = upright && x + 4 + wide <= along(to) ? x + 4 : Math.max(0, x - 4 - wide);
    if (taken.some((other) => Math.abs(other.y - y) < 13 && other.left < left + wide && left < other.right)) continue;
    taken.push({ left, right: left + wide, y });
    write(text, upright ? left : y, upright ? y : left, palette.ink, "left", { crossed: true });
  }
}

function shortened(text, letters) {
  return text.length > letters ? `${text.slice(0, Math.max(1, letters - 1))}…` : text;
}
