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
    const size = 2 * n - 1;
    Object.assign(this, { root, parent });
    this.order = new Uint32Array(size);
    this.place = new Uint32Array(size);
    this.head = new Uint32Array(size);
    this.end = new Uint32Array(size);
    this.light = new Int32Array(size);
    let place = 0;
    const waiting = [root];
    while (waiting.length) {
      const head = waiting.pop();
      let v = head;
      for (; ; place++) {
        this.order[place] = v;
        this.place[v] = place;
        this.head[v] = head;
        if (v < n) break;
        const l = left[v - n], r = right[v - n];
        const heavyLeft = count[l] >= count[r];
        this.light[place] = heavyLeft ? count[r] : -count[l];
        waiting.push(heavyLeft ? r : l);
        v = heavyLeft ? l : r;
      }
      this.end[head] = ++place;
    }
    this.leftLevels = maxima(this.light, -1);
    this.rightLevels = maxima(this.light, 1);
  }

  /** The uppermost ancestor of v (or v) that passes; `test` must hold from v up to it and for none above it. */
  highest(v, test) {
    let head = this.head[v];
    while (head !== this.root && test(this.parent[head])) {
      v = this.parent[head];
      head = this.head[v];
    }
    return this.order[this.firstPlace(this.place[head], this.place[v], test)];
  }

  /** The first place from `from` on whose node passes, `to` if none before it does; nodes below a passing one pass too. */
  firstPlace(from, to, test) {
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (test(this.order[middle])) to = middle;
      else from = middle + 1;
    }
    return from;
  }

  /** The first place in [from, to) whose light child is on this side (-1 left, 1 right) with at least `least` leaves; else `to`. */
  nextLight(from, to, side, least) {
    const levels = side < 0 ? this.leftLevels : this.rightLevels;
    const { light } = this;
    let level = -1;
    let i = from;
    while (i * BLOCK ** (level + 1) < to) {
      if ((level < 0 ? side * light[i] : levels[level][i]) >= least) {
        if (level < 0) return i;
        level--;
        i *= BLOCK;
      } else {
        i++;
        while (level + 1 < levels.length && i % BLOCK === 0) {
          i /= BLOCK;
          level++;
        }
      }
    }
    return to;
  }
}

/** Maxima of side * values over blocks, over blocks of blocks, and so on. */
function maxima(values, side) {
  const levels = [];
  for (let below = values, sign = side; below.length > 1; sign = 1) {
    const above = new Int32Array(Math.ceil(below.length / BLOCK));
    for (let i = 0; i < below.length; i++) {
      const block = Math.floor(i / BLOCK);
      if (sign * below[i] > above[block]) above[block] = sign * below[i];
    }
    levels.push(above);
    below = above;
  }
  return levels;
}
