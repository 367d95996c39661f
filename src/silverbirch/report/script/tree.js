// The dendrogram: typed arrays over nodes 0…2n-2. Nodes below n are leaves; node n+i is row i of the linkage matrix.
import { firstWhere, Paths } from "./paths.js";

/** Number of colours that clusters cycle through. */
export const COLOURS = 10;

/**
 * Derives everything that the page shows of a node from the packed arrays, in linear time.
 *
 * Over rows: `left`, `right`. Over nodes: `parent` (-1 at the root), `first` and `count` (the drawing positions of its leaves),
 * `height`, `top` (greatest height in the subtree), `x` (drawing position), `weight`, `absorbed` (numbers the clusters),
 * `sse` (null if unknown), `lowest` (lowest leaf number), `colour`. Over drawing positions: `leaf`.
 */
export class Tree {
  constructor(header, arrays) {
    this.n = header.n;
    this.root = 2 * this.n - 2;
    this.leaf = arrays.leaf;
    this.#join(arrays.boundary);
    this.#measure(arrays.height);
    this.weight = arrays.weight ? this.#sums(arrays.weight) : this.count;
    this.absorbed = arrays.absorbed ? this.#sums(arrays.absorbed) : this.weight;
    this.fractions = (arrays.absorbed ?? arrays.weight) instanceof Float64Array; // sums depend on their order
    this.numbering = new Map();
    this.#addSquares(header, arrays);
    this.paths = new Paths(this);
    this.colour = this.#colours(arrays.boundary);
  }

  /** What is known of a branch lies at both ends of its interval: neighbours in memory, where numbers of nodes are not. */
  #join(boundary) {
    const { n, leaf } = this, size = 2 * n - 1;
    const left = new Uint32Array(n - 1), right = new Uint32Array(n - 1), parent = new Int32Array(size).fill(-1);
    const first = new Uint32Array(size), count = new Uint32Array(size).fill(1, 0, n), lowest = new Uint32Array(size);
    const x = new Float64Array(size);
    const branch = leaf.slice(), low = leaf.slice(), otherEnd = new Uint32Array(n), middle = new Float64Array(n);
    for (let p = 0; p < n; p++) {
      first[leaf[p]] = otherEnd[p] = p;
      x[leaf[p]] = middle[p] = p + 0.5;
      lowest[p] = p;
    }
    for (let i = 0, v = n; i < n - 1; i++, v++) {
      const a = boundary[i], b = a + 1, begin = otherEnd[a], end = otherEnd[b];
      parent[(left[i] = branch[a])] = parent[(right[i] = branch[b])] = v;
      first[v] = begin;
      count[v] = end - begin + 1;
      middle[begin] = middle[end] = x[v] = (middle[a] + middle[b]) / 2;
      low[begin] = low[end] = lowest[v] = Math.min(low[a], low[b]);
      branch[begin] = branch[end] = v;
      otherEnd[begin] = end;
      otherEnd[end] = begin;
    }
    Object.assign(this, { left, right, parent, first, count, x, lowest });
  }

  #measure(rows) {
    const { n, left, right } = this, height = new Float32Array(2 * n - 1), level = rows.slice();
    height.set(rows, n);
    for (let i = 1; i < n - 1; i++) if (level[i] < level[i - 1]) level[i] = level[i - 1];
    Object.assign(this, { height, level, top: height });
    if (level.every((value, i) => value === rows[i])) return;
    const top = (this.top = height.slice()); // a merge may be lower than one before it, as centroids make it
    for (let i = 0; i < n - 1; i++) top[n + i] = Math.max(rows[i], top[left[i]], top[right[i]]);
  }

  #sums(leaves) {
    const { n, left, right } = this;
    const sums = new Float64Array(2 * n - 1);
    sums.set(leaves);
    for (let i = 0; i < n - 1; i++) sums[n + i] = sums[left[i]] + sums[right[i]];
    return sums;
  }

  /** The absorbed weight of a node to the last bit of Python's sum, which takes the leaves by ascending number. */
  numberingWeight(v) {
    if (!this.numbering.has(v)) {
      const leaves = this.leaf.slice(this.first[v], this.first[v] + this.count[v]).sort();
      this.numbering.set(v, leaves.reduce((sum, leaf) => sum + this.absorbed[leaf], 0));
    }
    return this.numbering.get(v);
  }

  #addSquares({ gain: kind }, { leaf_sse: leaves = [], gain, height }) {
    const { n, left, right } = this;
    this.sse = null;
    if (!gain && kind !== "ward") return;
    const sse = (this.sse = new Float64Array(2 * n - 1)), within = (this.within = new Float64Array(n));
    sse.set(leaves);
    for (const value of leaves) within[0] += value; // within[i]: sse of all clusters after the first i merges
    for (let i = 0; i < n - 1; i++) {
      const added = gain ? gain[i] : height[i] ** 2 / 2;
      sse[n + i] = sse[left[i]] + sse[right[i]] + added;
      within[i + 1] = within[i] + added;
    }
  }

  /**
   * A colour for each node that it keeps at every cut: undoing merges from the root, the heavier child keeps the colour of its
   * parent; the lighter one takes the next in turn that differs from its two neighbours. So neighbours differ at every cut.
   */
  #colours(boundary) {
    const { n, left, right, first, count, weight } = this;
    const colour = new Uint8Array(2 * n - 1);
    const at = new Uint8Array(n + 2).fill(COLOURS); // colour of the present cluster at both ends of its interval, one added
    at[1] = at[n] = 0;
    let next = 0;
    for (let i = n - 2; i >= 0; i--) {
      const l = left[i], r = right[i], a = boundary[i] + 1, begin = first[n + i], end = begin + count[n + i];
      const heavyLeft = weight[l] >= weight[r], own = colour[n + i], neighbour = heavyLeft ? at[end + 1] : at[begin];
      do next = (next + 1) % COLOURS;
      while (next === own || next === neighbour);
      at[begin + 1] = at[a] = colour[l] = heavyLeft ? own : next;
      at[a + 1] = at[end] = colour[r] = heavyLeft ? next : own;
    }
    return colour;
  }

  isLeaf(v) {
    return v < this.n;
  }

  /** Whether `ancestor` is v or lies above v. */
  isWithin(v, ancestor) {
    return this.first[v] >= this.first[ancestor] && this.first[v] + this.count[v] <= this.first[ancestor] + this.count[ancestor];
  }

  /** The lowest common ancestor of two nodes. */
  lca(a, b) {
    const { head } = this.paths;
    while (head[a] !== head[b]) {
      // The path whose head is lower cannot hold the common ancestor. A parent's number exceeds its child's.
      if (head[a] < head[b]) a = this.parent[head[a]];
      else b = this.parent[head[b]];
    }
    return Math.max(a, b);
  }

  /** The root mean squared distance of the rows of a node to their mean; null if the sums of squares are unknown. */
  rmsd(v) {
    return this.sse && rootMean(this.sse[v], this.weight[v]);
  }

  /** The rmsd within the clusters of the cut into k. */
  rmsdAt(k) {
    return this.sse && rootMean(this.within[this.n - k], this.weight[this.root]);
  }

  /** The heights between which a level line gives k clusters; the upper one is Infinity for one cluster. */
  heightsOfCut(k) {
    const last = this.n - 1 - k;
    return [last >= 0 ? this.level[last] : 0, k > 1 ? this.level[last + 1] : Infinity];
  }

  /** The number of clusters that a level line at this height gives. */
  cutOfHeight(height) {
    return this.n - firstWhere(0, this.n - 1, (row) => this.level[row] > height);
  }
}

function rootMean(sum, weight) {
  return weight > 0 ? Math.sqrt(Math.max(0, sum) / weight) : 0;
}
