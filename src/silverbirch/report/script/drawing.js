// Walks through the visible part of a tree. The work follows the pixels, not the leaves: of a heavy path only those nodes are
// visited whose other child is wide enough to be seen, or which lie at least a pixel lower than the node visited before.
import { COLOURS } from "./tree.js";

/** Colour of what lies above the cut, and of noise, after those of clusters. */
export const TRUNK = COLOURS, NOISE = COLOURS + 1;

/**
 * Draws the branches below `frame.root`.
 *
 * @param {Tree} tree
 * @param {Partition} cut
 * @param {object} frame root; from, to: the drawing positions in the window; least: the leaves that make a branch wide enough;
 *   scale: heights to 0…1; step: a pixel in units of the scale; above: where the stem of the root begins;
 *   cutAt: the cut line
 * @param {object} pen bar(from, to, t, colour), stem(x, upper, lower, colour), fill(from, to, upper, lower, colour):
 *   x, from and to are drawing positions, the others heights on the scale
 * @returns {number[]} the nodes visited
 */
export function drawBranches(tree, cut, frame, pen) {
  const { paths } = tree;
  const top = cut.topOf(frame.root);
  const waiting = [{ place: paths.place[frame.root], above: frame.above, colour: top < 0 ? TRUNK : cut.colourOf(top) }];
  const drawn = [];
  while (waiting.length) drawPath(tree, cut, frame, pen, waiting.pop(), waiting, drawn);
  return drawn;
}

function drawPath(tree, cut, frame, pen, start, waiting, drawn) {
  const { first, count, x, height, top, paths, left, right, n } = tree;
  const { from, to, least, scale, step } = frame;
  let { place, above, colour } = start;
  const end = paths.end[paths.head[paths.order[place]]];
  const clusterPlace = colour === TRUNK ? cut.placeOnPath(place, end) : end;
  const seen = visiblePlaces(tree, frame, place, end);
  for (;;) {
    const v = paths.order[place];
    const t = scale.of(height[v]);
    if (place === clusterPlace) colour = cut.colourOf(v);
    if (first[v] >= to || first[v] + count[v] <= from) return;
    drawn.push(v);
    pen.stem(x[v], above, t, colour);
    if (v < n) return;
    if (count[v] < least) return drawMany(tree, cut, frame, pen, first[v], first[v] + count[v], t, colour);

    const below = scale.of(top[v]) - step;
    const lower = below > 0 ? scale.height(below) : -1;
    let next = paths.firstPlace(place + 1, end - 1, (u) => top[u] <= lower);
    next = paths.nextLight(Math.max(place + 1, seen.left), next, -1, least);
    next = paths.nextLight(Math.max(place + 1, seen.right), next, 1, least);
    if (clusterPlace > place) next = Math.min(next, clusterPlace);

    const w = paths.order[next];
    const side = Math.sign(paths.light[place]);
    const light = side < 0 ? left[v - n] : right[v - n];
    const wide = Math.abs(paths.light[place]) >= least || next === place + 1;
    const shown = first[light] < to && first[light] + count[light] > from;
    if (wide && shown) waiting.push({ place: paths.place[light], above: t, colour });
    // The branches between this node and the next are too narrow to be seen one by one: a block on either side.
    const a = first[v] + (wide && side < 0 ? count[light] : 0), b = first[w];
    const c = first[w] + count[w], d = first[v] + count[v] - (wide && side > 0 ? count[light] : 0);
    if (a < b) drawMany(tree, cut, frame, pen, a, b, t, colour);
    if (c < d) drawMany(tree, cut, frame, pen, c, d, t, colour);
    pen.bar(Math.min(x[light], x[w], a < b ? a + 0.5 : x[w]), Math.max(x[light], x[w], c < d ? d - 0.5 : x[w]), t, colour);
    place = next;
    above = t;
  }
}

/** From which place of the path on the light children to the left and to the right lie in the window. */
function visiblePlaces({ first, count, paths }, { from, to }, place, end) {
  const begins = paths.firstPlace(place, end, (v) => first[v] > from);
  const ends = paths.firstPlace(place, end, (v) => first[v] + count[v] < to);
  return { left: begins - 1, right: ends - 1 }; // a light child ends where the next node of the path begins
}

/** Branches too narrow to be drawn one by one; below the cut in the colour of a cluster, if they are no wider than one. */
function drawMany({ leaf }, cut, { least, cutAt }, pen, from, to, t, colour) {
  const split = colour === TRUNK && to - from <= 2 * least ? Math.min(t, cutAt) : 0;
  pen.fill(from, to, t, split, colour);
  if (!split) return;
  const cluster = cut.topOf(leaf[(from + to) >> 1]);
  pen.fill(from, to, split, 0, cluster < 0 ? NOISE : cut.colourOf(cluster));
}
