import assert from "node:assert/strict";
import { test } from "node:test";
import { partition } from "../../src/silverbirch/report/script/cuts.js";
import { drawBranches, TRUNK } from "../../src/silverbirch/report/script/drawing.js";
import { heightScale } from "../../src/silverbirch/report/script/scales.js";
import { chain, random, randomTree, treeOf } from "./trees.js";

const WIDTH = 1000, HEIGHT = 400;

/** Draws a window; the pen notes what it is given. */
function draw(tree, { k = 10, cut = partition(tree, { k }), from = 0, to = tree.n, kind = "linear", root = tree.root } = {}) {
  const notes = [];
  const note = (name) => (...values) => notes.push([name, ...values]);
  const frame = { root, from, to, least: 1.5 / (WIDTH / (to - from)), scale: heightScale(kind, tree.top[root], 0.1), step: 1 / HEIGHT, above: 1.1, cutAt: 0 };
  const drawn = drawBranches(tree, cut, frame, { bar: note("bar"), stem: note("stem"), fill: note("fill") });
  return { drawn, notes, frame };
}

test("a frame of a chain of a million leaves visits about as many nodes as there are pixels", () => {
  const n = 1_000_000;
  const flat = new Float32Array(n - 1).fill(1);
  const bent = Float32Array.from(flat, (_, i) => (i / n) ** 3);
  for (const heights of [flat, bent, Float32Array.from(flat, (_, i) => i)]) {
    const tree = chain(n, heights);
    for (const kind of ["linear", "sqrt", "log"]) {
      for (const [from, to] of [[0, n], [n / 2, n / 2 + 50], [0, 30], [n - 40, n], [1000, 300_000]]) {
        assert.ok(draw(tree, { kind, from, to, k: 1000 }).drawn.length < 2 * (WIDTH + HEIGHT));
      }
    }
  }
});

test("a frame of a balanced tree visits a few nodes for each pixel", () => {
  const tree = randomTree(200_000, 1);
  for (const [from, to] of [[0, 200_000], [70_000, 70_900], [5, 25]]) assert.ok(draw(tree, { from, to, k: 5000 }).drawn.length < 4 * WIDTH);
});

test("chains with branches on both sides are bounded, too, wherever the window is", () => {
  const n = 60_000, next = random(2);
  let [left, right] = [n / 2 - 1, n / 2];
  const boundary = Uint32Array.from({ length: n - 1 }, () => (left < 0 || (right < n - 1 && next() < 0.5) ? right++ : left--));
  const tree = treeOf(boundary);
  for (const [from, to] of [[0, n], [n / 2 - 20, n / 2 + 20], [n / 4, n / 4 + 30], [0, 30], [n / 3, n]]) {
    assert.ok(draw(tree, { from, to }).drawn.length < 2 * (WIDTH + HEIGHT));
  }
});

test("where every leaf has its pixels, every node in the window is drawn", () => {
  const tree = randomTree(150, 3);
  for (const [from, to] of [[0, 150], [40, 60], [0.5, 7.25]]) {
    const { drawn } = draw(tree, { from, to });
    const visible = Array.from({ length: tree.root + 1 }, (_, v) => v).filter((v) => tree.first[v] < to && tree.first[v] + tree.count[v] > from);
    assert.deepEqual(drawn.toSorted((a, b) => a - b), visible);
  }
});

test("every wide branch of a large tree is drawn, and what is drawn is in the window", () => {
  const tree = randomTree(50_000, 4);
  for (const [from, to] of [[0, 50_000], [10_000, 12_000], [33_333, 33_400]]) {
    const { drawn, frame } = draw(tree, { from, to });
    const known = new Set(drawn);
    for (const v of drawn) assert.ok(tree.first[v] < to && tree.first[v] + tree.count[v] > from);
    for (let v = tree.n; v < tree.root; v++) {
      const shown = tree.first[v] < to && tree.first[v] + tree.count[v] > from && tree.count[v] >= frame.least;
      const sibling = tree.left[tree.parent[v] - tree.n] === v ? tree.right[tree.parent[v] - tree.n] : tree.left[tree.parent[v] - tree.n];
      // Light children are never skipped; on a heavy path those less than a pixel apart are.
      if (shown && tree.count[sibling] > tree.count[v]) assert.ok(known.has(v));
    }
  }
});

test("every leaf in the window is drawn, or lies in a block for branches that are too narrow", () => {
  for (const tree of [randomTree(50_000, 7), chain(20_000)]) {
    for (const [from, to] of [[0, tree.n], [10_000, 12_000], [13_333, 13_400]]) {
      const { drawn, notes } = draw(tree, { from, to, k: 300 });
      const covered = new Uint8Array(tree.n);
      for (const v of drawn) if (tree.isLeaf(v)) covered[tree.first[v]] = 1;
      for (const [name, begin, end] of notes) if (name === "fill") covered.fill(1, begin, end);
      assert.equal(covered.subarray(from, to).indexOf(0), -1);
    }
  }
});

test("stems above the cut have the colour of the trunk, those below that of their cluster", () => {
  const tree = randomTree(100, 5);
  const level = partition(tree, { k: 8 });
  const adaptive = partition(tree, { adaptive: 0 }, [partition(tree, { k: 20 }).nodes().filter((_, i) => i % 2)]);
  const byPlace = new Map(Array.from({ length: tree.root + 1 }, (_, v) => [`${tree.x[v]} ${tree.height[v] / tree.top[tree.root]}`, v]));
  for (const cut of [level, adaptive]) {
    const stems = draw(tree, { cut }).notes.filter(([name]) => name === "stem");
    assert.equal(stems.length, tree.root + 1);
    for (const [, x, , lower, colour] of stems) {
      const top = cut.topOf(byPlace.get(`${x} ${lower}`));
      assert.equal(colour, top < 0 ? TRUNK : cut.colourOf(top));
    }
  }
});

test("a branch can be drawn by itself", () => {
  const tree = randomTree(200, 6);
  const root = tree.left[tree.root - tree.n];
  const { drawn } = draw(tree, { root, from: tree.first[root], to: tree.first[root] + tree.count[root] });
  assert.equal(drawn[0], root);
  assert.ok(drawn.every((v) => tree.isWithin(v, root)));
});
