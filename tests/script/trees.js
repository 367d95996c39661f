// Trees for the tests, made from their merges.
import { Tree } from "../../src/silverbirch/report/script/tree.js";

/** Numbers in [0, 1) that are the same in every run. */
export function random(seed) {
  let state = seed + 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * A tree whose row i joins the branches on both sides of boundary[i]. Leaves are numbered by their drawing position.
 * @param {ArrayLike<number>} boundary
 * @param {ArrayLike<number>} [heights] 1, 2, 3… if left out
 */
export function treeOf(boundary, heights = Float32Array.from(boundary, (_, i) => i + 1), more = {}) {
  const n = boundary.length + 1;
  return new Tree({ n, gain: "ward" }, { boundary, height: Float32Array.from(heights), leaf: Uint32Array.from({ length: n }, (_, i) => i), ...more });
}

/** A tree of n leaves that joins neighbours in random order. */
export function randomTree(n, seed, heights) {
  const next = random(seed);
  const boundary = Uint32Array.from({ length: n - 1 }, (_, i) => i);
  for (let i = n - 2; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [boundary[i], boundary[j]] = [boundary[j], boundary[i]];
  }
  return treeOf(boundary, heights);
}

/** Leaf after leaf joins one growing branch, as single linkage does. */
export function chain(n, heights) {
  return treeOf(Uint32Array.from({ length: n - 1 }, (_, i) => i), heights);
}

/** The nodes from v up to the root. */
export function ancestors(tree, v) {
  const result = [];
  for (; v >= 0; v = tree.parent[v]) result.push(v);
  return result;
}
