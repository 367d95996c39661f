// Cuts of the dendrogram into clusters. A cluster is a node; its label is its rank by weight, as Python numbers them.
import { firstWhere } from "./paths.js";
import { COLOURS } from "./tree.js";

/**
 * The clusters of a cut.
 * @param {Tree} tree
 * @param {{k: number}|{adaptive: number}} cut
 * @param {ArrayLike<number>[]} adaptive the nodes that each adaptive cut selects
 */
export function partition(tree, cut, adaptive = []) {
  return cut.k === undefined ? new AdaptiveCut(tree, adaptive[cut.adaptive]) : new LevelCut(tree, cut.k);
}

/** What both kinds of cut share, given `k`, `nodes()` (the clusters), `has(v)` and `topOf(v)`. */
class Partition {
  constructor(tree) {
    this.tree = tree;
    this.noiseWeight = 0;
  }

  /** Whether cluster a has a lower label than b. */
  before(a, b) {
    const { tree } = this;
    let gap = tree.absorbed[a] - tree.absorbed[b];
    // Two roundings of one sum: only the sum that Python makes decides.
    if (tree.fractions && Math.abs(gap) < 1e-9 * tree.absorbed[a]) gap = tree.numberingWeight(a) - tree.numberingWeight(b);
    return gap > 0 || (gap === 0 && tree.lowest[a] < tree.lowest[b]);
  }

  /** The heaviest clusters in the order of their labels, without sorting all of them. */
  largest(count = Infinity) {
    if (this.top?.length >= Math.min(count, this.k)) return this.top.slice(0, count);
    const best = count < this.k ? this.#best(count) : this.#ranked([...this.nodes()]);
    this.top = best.map((node, label) => ({ node, label }));
    return this.top.slice();
  }

  #ranked(nodes) {
    return nodes.sort((a, b) => (this.before(a, b) ? -1 : 1));
  }

  #best(count) {
    const { absorbed } = this.tree, nodes = this.nodes(), weight = new Float64Array(this.k);
    // The weight of the last of them first, from the heavy end: what weighs less need not be compared.
    const heaviest = [];
    for (let i = nodes.length - 1; i >= 0; i--) {
      weight[i] = absorbed[nodes[i]];
      if (heaviest.length === count && weight[i] <= heaviest[0]) continue;
      heaviest.splice(lowerBound(heaviest, weight[i]), 0, weight[i]);
      if (heaviest.length > count) heaviest.shift();
    }
    const least = heaviest[0] * (1 - 1e-9), best = [];
    for (let i = 0; i < nodes.length; i++) {
      if (weight[i] < least || (best.length === count && !this.before(nodes[i], best[count - 1]))) continue;
      best.splice(this.#rank(best, nodes[i]), 0, nodes[i]);
      if (best.length > count) best.pop();
    }
    return best;
  }

  /** How many of the ranked nodes come before v, or are v. */
  #rank(ranked, v) {
    return firstWhere(0, ranked.length, (i) => this.before(v, ranked[i]));
  }

  labelOf(v) {
    return this.labelsOf([v])[0];
  }

  /** The labels of some clusters, in one pass over all clusters; -1 for a node that is none. */
  labelsOf(nodes) {
    const ranked = this.#ranked(nodes.filter((v) => this.has(v)));
    const label = new Map();
    if (ranked.length) {
      const between = new Uint32Array(ranked.length + 1);
      for (const v of this.nodes()) between[this.#rank(ranked, v)]++;
      let before = 0;
      ranked.forEach((v, i) => label.set(v, (before += between[i])));
    }
    return nodes.map((v) => label.get(v) ?? -1);
  }

  /** The label of each leaf, by leaf number; -1 for noise. */
  labels() {
    const { leaf, first, count, n } = this.tree;
    const labels = new Int32Array(n).fill(-1);
    for (const { node, label } of this.largest()) {
      for (let p = first[node], end = p + count[node]; p < end; p++) labels[leaf[p]] = label;
    }
    return labels;
  }
}

/** Undoes the last k-1 merges: the clusters are the uppermost nodes up to number `limit`. */
class LevelCut extends Partition {
  constructor(tree, k) {
    super(tree);
    this.k = Math.min(Math.max(1, Math.round(k)), tree.n);
    this.limit = 2 * tree.n - 1 - this.k;
    this.rmsd = tree.rmsdAt(this.k);
    this.reaches = (v) => v <= this.limit;
  }

  has(v) {
    return v <= this.limit && !(this.tree.parent[v] >= 0 && this.tree.parent[v] <= this.limit);
  }

  /** The cluster that contains a node; -1 for a node above the cut. */
  topOf(v) {
    return v > this.limit ? -1 : this.tree.paths.highest(v, this.reaches);
  }

  /** The place of the cluster on a heavy path, from place `from` on; `to` if there is none. */
  placeOnPath(from, to) {
    return this.tree.paths.firstPlace(from, to, this.reaches);
  }

  colourOf(v) {
    return this.tree.colour[v];
  }

  nodes() {
    if (this.members) return this.members;
    const { n, left, right, root } = this.tree;
    const members = (this.members = new Uint32Array(this.k));
    if (this.k === 1) members[0] = root;
    for (let row = this.limit + 1 - n, i = 0; i < this.k && row < n - 1; row++) {
      if (left[row] <= this.limit) members[i++] = left[row];
      if (right[row] <= this.limit) members[i++] = right[row];
    }
    return members;
  }
}

/** Selected branches; what lies in none of them is noise. */
class AdaptiveCut extends Partition {
  constructor(tree, selected = []) {
    super(tree);
    const { first, count, weight, sse, root, paths } = tree;
    this.members = Uint32Array.from(selected).sort((a, b) => first[a] - first[b]);
    this.k = this.members.length;
    this.ends = this.members.map((v) => first[v] + count[v]);
    this.places = this.members.map((v) => paths.place[v]).sort();
    let inside = 0, squares = 0;
    for (const v of this.members) {
      inside += weight[v];
      squares += sse ? sse[v] : 0;
    }
    this.noiseWeight = Math.max(0, weight[root] - inside);
    this.rmsd = sse && (inside > 0 ? Math.sqrt(squares / inside) : 0);
    this.colours = this.#colours();
  }

  nodes() {
    return this.members;
  }

  has(v) {
    return this.members[this.#indexOf(v)] === v;
  }

  topOf(v) {
    const top = this.members[this.#indexOf(v)];
    return top !== undefined && this.tree.isWithin(v, top) ? top : -1;
  }

  placeOnPath(from, to) {
    return Math.min(to, this.places[lowerBound(this.places, from)] ?? to);
  }

  colourOf(v) {
    return this.colours[this.#indexOf(v)];
  }

  /** The one selected branch that can contain v. */
  #indexOf(v) {
    return lowerBound(this.ends, this.tree.first[v] + 1);
  }

  /** Those of the nodes, except where two neighbours would have the same: neighbours here were never a cut by level. */
  #colours() {
    const colours = Uint8Array.from(this.members, (v) => this.tree.colour[v]);
    for (let i = 1; i < colours.length; i++) {
      while (colours[i] === colours[i - 1]) colours[i] = (colours[i] + 1) % COLOURS;
    }
    return colours;
  }
}

/** The number of ascending values below `least`. */
export function lowerBound(values, least) {
  return firstWhere(0, values.length, (i) => values[i] >= least);
}
