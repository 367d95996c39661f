// Paints a frame of the dendrogram on a canvas: axis, branches, the colours of the clusters below them, labels and names.
import { lowerBound } from "./cuts.js";
import { drawBranches, NOISE } from "./drawing.js";
import { count } from "./format.js";
import { colours } from "./palette.js";
import { ticksOf, tickText } from "./scales.js";

const NARROW = 1.5; // pixels: a narrower branch is drawn as a wedge
const NAMED = 11; // pixels for a leaf: enough for its name
const STRIP = 5; // pixels: the colours of the clusters below the leaves
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', sans-serif";

/**
 * Where things lie on a canvas of this size. `along` runs over the leaves, `depth` from the top of the tree to the leaves:
 * x and y if the root is at the top, y and x if it is at the left.
 */
export function geometryOf({ side, width, height, from, to, scale, letters }) {
  const upright = side === "top";
  const [wide, deep] = upright ? [width, height] : [height, width];
  const start = upright ? 50 : 26;
  const length = Math.max(10, wide - start - (upright ? 6 : 8));
  const perLeaf = length / (to - from);
  const named = perLeaf >= NAMED;
  const names = named ? 8 + 6.5 * Math.min(letters, 14) : 0;
  const below = STRIP + 6 + names + (upright ? 34 : Math.min(120, width / 4));
  const above = 12;
  const deepness = Math.max(10, deep - above - below);
  return {
    upright, start, length, perLeaf, named, names, above, deepness, from, to, scale,
    base: above + deepness,
    least: NARROW / perLeaf,
    along: (position) => start + (position - from) * perLeaf,
    depth: (t) => above + (1 - t) * deepness,
    /** The drawing position and the height (on the scale) at a point of the canvas. */
    at(x, y) {
      const [a, d] = upright ? [x, y] : [y, x];
      return { position: from + (a - start) / perLeaf, t: 1 - (d - above) / deepness };
    },
    /** The box of a band across some leaves, in pixels of the canvas: left, top, width, height. */
    box(first, last, upper, lower) {
      const a = Math.max(start, start + (first - from) * perLeaf);
      const b = Math.min(start + length, start + (last - from) * perLeaf);
      return upright ? [a, upper, b - a, lower - upper] : [upper, a, lower - upper, b - a];
    },
  };
}

/**
 * Paints a frame.
 * @returns {number[]} the nodes drawn
 */
export function paint(canvas, view, frame) {
  const { width, height, root } = frame;
  const geometry = geometryOf(frame);
  const sharpness = globalThis.devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * sharpness), Math.round(height * sharpness)];
  if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
  const context = canvas.getContext("2d");
  context.setTransform(sharpness, 0, 0, sharpness, 0, 0);
  context.clearRect(0, 0, width, height);
  const palette = colours();
  const brush = { context, palette, sharpness, ink: [...palette.branch, palette.trunk, palette.noise] };
  paintAxis(brush, geometry, frame);
  paintMarked(brush, geometry, view);
  const drawn = paintBranches(brush, geometry, view, root);
  const runs = runsOf(view, geometry);
  paintStrip(brush, geometry, view, runs);
  if (geometry.named) paintLeafNames(brush, geometry, view);
  paintLabels(brush, geometry, view, runs);
  paintNames(brush, geometry, view, drawn);
  return drawn;
}

function paintAxis({ context, palette }, geometry, { width, height }) {
  const { upright, scale, depth, deepness, start, base } = geometry;
  context.font = `11px ${FONT}`;
  context.lineWidth = 1;
  context.strokeStyle = palette.rule;
  context.fillStyle = palette.quiet;
  context.textBaseline = upright ? "middle" : "alphabetic";
  context.textAlign = upright ? "right" : "center";
  context.beginPath();
  for (const tick of ticksOf(scale, (upright ? 34 : 60) / deepness)) {
    const d = Math.round(depth(scale.of(tick))) + 0.5;
    if (d > base + 1) continue;
    line(context, upright, start - 4, d, (upright ? width : height) - 6, d);
    if (upright) context.fillText(tickText(tick), start - 8, d);
    else context.fillText(tickText(tick), d, start - 10);
  }
  context.stroke();
}

function line(context, upright, a1, d1, a2, d2) {
  context.moveTo(upright ? a1 : d1, upright ? d1 : a1);
  context.lineTo(upright ? a2 : d2, upright ? d2 : a2);
}

/** A band behind the selected and the compared cluster. */
function paintMarked({ context, palette }, geometry, { tree, store }) {
  for (const v of [store.state.selected, store.state.compared]) {
    if (v === null) continue;
    const box = geometry.box(tree.first[v], tree.first[v] + tree.count[v], Math.max(0, geometry.depth(geometry.scale.of(tree.height[v]))), geometry.base);
    context.fillStyle = palette.tint;
    if (box[geometry.upright ? 2 : 3] > 0) context.fillRect(...box);
  }
}

/** Where the line of a cut lies on the scale: midway between the merges that it separates; Infinity if there is no line. */
export function lineOf(tree, cut, { of }) {
  if (cut.limit === undefined) return Infinity;
  const [lower, upper] = tree.heightsOfCut(cut.k).map(of);
  return (lower + Math.min(upper, Math.max(1, lower))) / 2;
}

/** All lines are rectangles on whole pixels: they are sharp, and quicker than strokes by far where no GPU helps. */
function paintBranches({ context, ink, sharpness }, geometry, { tree, partition }, root) {
  const { upright, start, length, along, depth, base, scale, from, to, least } = geometry;
  const lines = ink.map(() => []), fills = ink.map(() => []);
  const thick = Math.max(1, Math.round(1.2 * sharpness)) / sharpness;
  const sharp = (value) => Math.round((value - thick / 2) * sharpness) / sharpness;
  const inside = (a) => Math.min(Math.max(a, start - 9), start + length + 9);
  const add = (list, a, d, wide, deep) => (upright ? list.push(a, d, wide, deep) : list.push(d, a, deep, wide));
  const pen = {
    bar(left, right, t, colour) {
      const a = sharp(inside(along(left)));
      add(lines[colour], a, sharp(depth(t)), sharp(inside(along(right))) - a + thick, thick);
    },
    stem(x, upper, lower, colour) {
      const a = sharp(along(x)), d = sharp(depth(upper));
      if (a > start - 9 && a < start + length + 9) add(lines[colour], a, d, thick, sharp(depth(lower)) - d + thick);
    },
    fill(left, right, upper, lower, colour) {
      const a = inside(along(left)), d = depth(upper);
      add(fills[colour], a, d, Math.max(inside(along(right)) - a, thick), depth(lower) - d);
    },
  };
  const frame = { root, from, to, least, scale, step: 1 / geometry.deepness, above: 1.1, cutAt: lineOf(tree, partition(), scale) };
  const drawn = drawBranches(tree, partition(), frame, pen);
  context.save();
  context.beginPath();
  context.rect(...(upright ? [start - 1, 0, length + 2, base + 1] : [0, start - 1, base + 1, length + 2]));
  context.clip();
  ink.forEach((colour, i) => {
    context.fillStyle = colour;
    context.globalAlpha = 0.35;
    fillAll(context, fills[i]);
    context.globalAlpha = 1;
    fillAll(context, lines[i]);
  });
  context.restore();
  return drawn;
}

function fillAll(context, boxes) {
  for (let i = 0; i < boxes.length; i += 4) context.fillRect(boxes[i], boxes[i + 1], boxes[i + 2], boxes[i + 3]);
}

/** The clusters along the window: [{node, from, to}] in drawing positions, one for each stretch of pixels; -1 is noise. */
function runsOf({ tree, partition }, { from, to, length }) {
  const cut = partition();
  const runs = [];
  const step = (to - from) / Math.ceil(length);
  for (let position = from + step / 2; position < to; ) {
    const node = cut.topOf(tree.leaf[Math.floor(position)]);
    const end = node < 0 ? position : tree.first[node] + tree.count[node];
    const last = runs.at(-1);
    if (last?.node === node) last.to = Math.min(to, position + step / 2);
    else runs.push({ node, from: node < 0 ? position - step / 2 : Math.max(from, tree.first[node]), to: Math.min(to, Math.max(end, position + step / 2)) });
    position = Math.max(position + step, from + (Math.floor((end - from) / step) + 0.5) * step);
  }
  return runs;
}

function paintStrip({ context, ink, palette }, { along, box, base }, { partition, store }, runs) {
  const cut = partition();
  const { selected, compared } = store.state;
  for (const { node, from, to } of runs) {
    const marked = node >= 0 && (node === selected || node === compared);
    const wide = along(to) - along(from);
    const gap = wide > 4 ? 0.5 / (wide / (to - from)) : 0; // half a pixel at both ends
    context.fillStyle = ink[node < 0 ? NOISE : cut.colourOf(node)];
    context.fillRect(...box(from + gap, to - gap, base + 3, base + 3 + STRIP));
    if (!marked) continue;
    context.fillStyle = palette.ink;
    context.fillRect(...box(from, to, base + 4 + STRIP, base + 6 + STRIP));
  }
}

function paintLeafNames({ context, palette }, { upright, from, to, along, base, names }, { tree, name }) {
  context.font = `11px ${FONT}`;
  context.fillStyle = palette.quiet;
  context.textBaseline = "middle";
  context.textAlign = upright ? "right" : "left";
  for (let position = Math.floor(from); position < Math.min(to, tree.n); position++) {
    const a = along(position + 0.5);
    if (position + 0.5 < from || position + 0.5 > to) continue;
    const text = shortened(context, name(tree.leaf[position]) ?? String(tree.leaf[position]), names - 6);
    context.save();
    context.translate(upright ? a : base + STRIP + 8, upright ? base + STRIP + 8 : a);
    if (upright) context.rotate(-Math.PI / 2);
    context.fillText(text, 0, 0);
    context.restore();
  }
}

/** Labels of the clusters, and their names or rows, where there is room. */
function paintLabels({ context, palette }, { upright, along, base, names }, { tree, partition, name }, runs) {
  const wide = runs.filter(({ node, from, to }) => node >= 0 && along(to) - along(from) >= 13);
  const labels = partition().labelsOf(wide.map(({ node }) => node));
  const d = base + STRIP + 9 + names;
  context.textAlign = upright ? "center" : "left";
  context.textBaseline = upright ? "top" : "middle";
  let free = -Infinity;
  wide.forEach(({ node, from, to }, i) => {
    const a = (along(from) + along(to)) / 2;
    const room = along(to) - along(from) - 4;
    const label = String(labels[i]), rows = count(tree.weight[node]);
    context.font = `600 11px ${FONT}`;
    const width = context.measureText(label).width;
    if ((upright ? width : 11) > room || a - width / 2 < free) return;
    free = a + (upright ? width / 2 : 6);
    context.fillStyle = palette.ink;
    context.fillText(label, ...(upright ? [a, d] : [d, a]));
    context.font = `11px ${FONT}`;
    context.fillStyle = palette.quiet;
    const text = shortened(context, name(node) ?? rows, upright ? room : 90);
    if (!upright) context.fillText(text, d + width + 6, a);
    else if (text.length > 4 || text === rows) context.fillText(text, a, d + 14);
    else if (context.measureText(rows).width <= room) context.fillText(rows, a, d + 14);
  });
}

/** Names of branches that are not clusters of the present cut, beside the branch. */
function paintNames({ context, palette }, { upright, along, depth, scale, from, to }, { tree, partition, name }, drawn) {
  const cut = partition();
  const named = drawn.filter((v) => !tree.isLeaf(v) && name(v) !== null && !cut.has(v) && tree.x[v] > from && tree.x[v] < to);
  context.font = `600 11px ${FONT}`;
  context.textAlign = "left";
  context.textBaseline = "alphabetic";
  context.lineWidth = 3;
  context.strokeStyle = palette.paper;
  context.fillStyle = palette.ink;
  const taken = [];
  for (const v of named.slice(0, 60)) {
    const [a, d] = [along(tree.x[v]), depth(scale.of(tree.height[v]))];
    const [x, y] = upright ? [a + 4, d - 4] : [d + 4, a - 4];
    const width = context.measureText(name(v)).width;
    if (taken.some((box) => Math.abs(box.y - y) < 13 && box.x < x + width && x < box.x + box.width)) continue;
    taken.push({ x, y, width });
    context.strokeText(name(v), x, y);
    context.fillText(name(v), x, y);
  }
}

/** The text, or as much of it as fits, with an ellipsis. */
function shortened(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  const lengths = Array.from(text, (_, i) => context.measureText(`${text.slice(0, i + 1)}…`).width);
  const fits = lowerBound(lengths, room);
  return fits > 0 ? `${text.slice(0, fits)}…` : "";
}
