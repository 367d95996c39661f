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
    this.colour = this.#colours();
  }

  #join(boundary) {
    const { n, leaf } = this, size = 2 * n - 1;
    const left = new Uint32Array(n - 1), right = new Uint32Array(n - 1), parent = new Int32Array(size).fill(-1);
    const first = new Uint32Array(size), count = new Uint32Array(size).fill(1, 0, n), lowest = new Uint32Array(size);
    const x = new Float64Array(size);
    const begins = Uint32Array.from(leaf), ends = Uint32Array.from(leaf); // the branch that begins or ends at a position
    for (let p = 0; p < n; p++) {
      first[leaf[p]] = p;
      x[leaf[p]] = p + 0.5;
      lowest[p] = p;
    }
    for (let i = 0, v = n; i < n - 1; i++, v++) {
      const l = (left[i] = ends[boundary[i]]), r = (right[i] = begins[boundary[i] + 1]);
      parent[l] = parent[r] = v;
      first[v] = first[l];
      count[v] = count[l] + count[r];
      x[v] = (x[l] + x[r]) / 2;
      lowest[v] = Math.min(lowest[l], lowest[r]);
      begins[first[v]] = ends[first[v] + count[v] - 1] = v;
    }
    Object.assign(this, { left, right, parent, first, count, x, lowest });
  }

  #measure(rows) {
    const { n, left, right } = this, height = new Float32Array(2 * n - 1);
    height.set(rows, n);
    const top = height.slice(), level = rows.slice(); // levels ascend also where centroids make a merge lower than one before it
    for (let i = 0; i < n - 1; i++) {
      top[n + i] = Math.max(rows[i], top[left[i]], top[right[i]]);
      if (level[i] < level[i - 1]) level[i] = level[i - 1];
    }
    Object.assign(this, { height, top, level });
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
  #colours() {
    const { n, left, right, first, count, weight } = this;
    const colour = new Uint8Array(2 * n - 1);
    const at = new Uint8Array(n + 2).fill(COLOURS); // colour of the present cluster at both ends of its interval, one added
    at[1] = at[n] = 0;
    let next = 0;
    for (let i = n - 2; i >= 0; i--) {
      const l = left[i], r = right[i];
      const heavyLeft = weight[l] >= weight[r];
      const light = heavyLeft ? r : l;
      const own = colour[n + i];
      const neighbour = heavyLeft ? at[first[r] + count[r] + 1] : at[first[l]];
      do next = (next + 1) % COLOURS;
      while (next === own || next === neighbour);
      colour[heavyLeft ? l : r] = own;
      colour[light] = next;
      at[first[l] + 1] = at[first[l] + count[l]] = colour[l];
      at[first[r] + 1] = at[first[r] + count[r]] = colour[r];
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

  /** The height of a level line that gives k clusters, where heights differ. */
  heightOfCut(k) {
    const [lower, upper] = this.heightsOfCut(k);
    return upper === Infinity ? lower * 1.05 : (lower + upper) / 2;
  }

  /** The number of clusters that a level line at this height gives. */
  cutOfHeight(height) {
    return this.n - firstWhere(0, this.n - 1, (row) => this.level[row] > height);
  }
}

function rootMean(sum, weight) {
  return weight > 0 ? Math.sqrt(Math.max(0, sum) / weight) : 0;
}
