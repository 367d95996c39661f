// Heavy paths: from a node, the path continues to the child with more leaves (Sleator and Tarjan 1983, "A data structure for
// dynamic trees"). At most log2(n) paths lie between a leaf and the root, so what would climb node by node jumps path by path,
// also in a chain of a million merges.

const BLOCK = 32;

/**
 * The nodes of a tree, each path contiguous in `order` from its upper end down to a leaf.
 *
 * `place[v]` is where node v lies in `order`, `head[v]` the upper end of its path, `end[head[v]]` the place after its lower end.
 * `light[p]` is the number of leaves of the light child (the one that leaves the path) of the node at place p,
 * negative if it is the left child, 0 at a leaf.
 */
export class Paths {
  constructor({ n, root, left, right, parent, count }) {
    const [order, place, head, end] = Array.from({ length: 4 }, () => new Uint32Array(2 * n - 1));
    const light = new Int32Array(2 * n - 1), waiting = [root];
    let next = 0;
    while (waiting.length) {
      const upper = waiting.pop();
      for (let v = upper; ; next++) {
        order[next] = v;
        place[v] = next;
        head[v] = upper;
        if (v < n) break;
        const l = left[v - n], r = right[v - n], heavyLeft = count[l] >= count[r];
        light[next] = heavyLeft ? count[r] : -count[l];
        waiting.push(heavyLeft ? r : l);
        v = heavyLeft ? l : r;
      }
      end[upper] = ++next;
    }
    Object.assign(this, { root, parent, order, place, head, end, light });
    this.widest = { [-1]: maxima(light, -1), 1: maxima(light, 1) };
  }

  /** The uppermost ancestor of v (or v) that passes; `test` must hold from v up to it and for none above it. */
  highest(v, test) {
    const { head, parent, place, root } = this;
    while (head[v] !== root && test(parent[head[v]])) v = parent[head[v]];
    return this.order[this.firstPlace(place[head[v]], place[v], test)];
  }

  /** The first place from `from` on whose node passes, `to` if none before it does; nodes below a passing one pass too. */
  firstPlace(from, to, test) {
    return firstWhere(from, to, (i) => test(this.order[i]));
  }

  /** The first place in [from, to) whose light child is on this side (-1 left, 1 right) with at least `least` leaves; else `to`. */
  nextLight(from, to, side, least) {
    const levels = this.widest[side];
    let i = from, level = -1; // block i of a level; level -1 are the places
    while (i * BLOCK ** (level + 1) < to) {
      if ((level < 0 ? side * this.light[i] : levels[level][i]) >= least) {
        if (level < 0) return i;
        level--;
        i *= BLOCK;
      } else {
        for (i++; level + 1 < levels.length && i % BLOCK === 0; level++) i /= BLOCK;
      }
    }
    return to;
  }
}

/** The first i in [from, to) that passes, else `to`; all after a passing one must pass. */
export function firstWhere(from, to, passes) {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (passes(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** Maxima of sign * values over blocks, over blocks of blocks, and so on. */
function maxima(values, sign) {
  const levels = [];
  for (let below = values; below.length > 1; sign = 1) {
    const above = new Int32Array(Math.ceil(below.length / BLOCK));
    for (let i = 0; i < below.length; i++) {
      const block = Math.floor(i / BLOCK);
      above[block] = Math.max(above[block], sign * below[i]);
    }
    levels.push((below = above));
  }
  return levels;
}
