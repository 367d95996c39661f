import assert from "node:assert/strict";
import { test } from "node:test";
import { ancestors, chain, random, randomTree, treeOf } from "./trees.js";

test("the lowest common ancestor is the first node that both ways to the root share", () => {
  for (const tree of [randomTree(70, 1), chain(40)]) {
    const next = random(2);
    for (let i = 0; i < 500; i++) {
      const [a, b] = [Math.floor(next() * (tree.root + 1)), Math.floor(next() * (tree.root + 1))];
      const above = new Set(ancestors(tree, a));
      assert.equal(tree.lca(a, b), ancestors(tree, b).find((v) => above.has(v)));
    }
  }
});

test("the highest ancestor that passes is the one that climbing finds", () => {
  for (const tree of [randomTree(90, 3), chain(50)]) {
    for (let v = 0; v <= tree.root; v++) {
      for (const limit of [v, v + 5, tree.root - 3, tree.root]) {
        if (limit < v) continue;
        assert.equal(tree.paths.highest(v, (u) => u <= limit), ancestors(tree, v).findLast((u) => u <= limit));
      }
    }
  }
});

test("heavy paths hold every node once, from parent to child", () => {
  const tree = randomTree(200, 4);
  const { order, place, head, end } = tree.paths;
  assert.deepEqual(Array.from(order).sort((a, b) => a - b), Array.from({ length: 399 }, (_, v) => v));
  for (let v = 0; v <= tree.root; v++) {
    assert.equal(order[place[v]], v);
    if (head[v] !== v) assert.equal(order[place[v] - 1], tree.parent[v]);
    if (place[v] + 1 < end[head[v]]) assert.equal(tree.parent[order[place[v] + 1]], v);
  }
});

test("the next wide light child is the one that a scan finds", () => {
  const tree = randomTree(3000, 5);
  const { light, nextLight } = tree.paths;
  const next = random(6);
  for (let i = 0; i < 500; i++) {
    const from = Math.floor(next() * light.length), to = Math.min(light.length, from + Math.floor(next() * 4000));
    const side = next() < 0.5 ? -1 : 1, least = 1 + Math.floor(next() ** 4 * 300);
    let scanned = from;
    while (scanned < to && side * light[scanned] < least) scanned++;
    assert.equal(nextLight.call(tree.paths, from, to, side, least), scanned);
  }
});

test("neighbours have different colours at every cut", () => {
  for (const tree of [randomTree(300, 7), chain(100), randomTree(2, 8)]) {
    for (let k = 2; k <= tree.n; k++) {
      const limit = 2 * tree.n - 1 - k;
      const colours = [];
      for (let p = 0; p < tree.n; ) {
        const top = tree.paths.highest(tree.leaf[p], (v) => v <= limit);
        colours.push(tree.colour[top]);
        p += tree.count[top];
      }
      assert.equal(colours.length, k);
      for (let i = 1; i < k; i++) assert.notEqual(colours[i], colours[i - 1]);
    }
  }
});

test("a branch keeps its colour in its heavier child", () => {
  const tree = randomTree(300, 9);
  for (let row = 0; row < tree.n - 1; row++) {
    const [l, r] = [tree.left[row], tree.right[row]];
    assert.equal(tree.colour[tree.count[l] >= tree.count[r] ? l : r], tree.colour[tree.n + row]);
  }
});

test("sums, intervals and tops are those of the leaves below", () => {
  const tree = treeOf([1, 0, 2], [3, 2, 4], { weight: [1, 2, 4, 8], leaf_sse: [1, 1, 1, 1] });
  assert.deepEqual([...tree.first], [0, 1, 2, 3, 1, 0, 0]);
  assert.deepEqual([...tree.count], [1, 1, 1, 1, 2, 3, 4]);
  assert.deepEqual([...tree.weight], [1, 2, 4, 8, 6, 7, 15]);
  assert.deepEqual([...tree.top], [0, 0, 0, 0, 3, 3, 4]);
  assert.deepEqual([...tree.sse], [1, 1, 1, 1, 2 + 4.5, 3 + 4.5 + 2, 4 + 4.5 + 2 + 8]);
  assert.equal(tree.rmsdAt(2), Math.sqrt((4 + 4.5 + 2) / 15));
});

test("a line between two merges cuts between them", () => {
  const tree = randomTree(50, 10);
  for (let k = 1; k <= 50; k++) {
    const [lower, upper] = tree.heightsOfCut(k);
    for (const height of [lower, (lower + Math.min(upper, 1e9)) / 2]) assert.equal(tree.cutOfHeight(height), k);
  }
  assert.equal(tree.cutOfHeight(0), 50);
  assert.equal(tree.cutOfHeight(1e9), 1);
});
