import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { partition } from "../../src/silverbirch/report/script/cuts.js";
import { inWords } from "../../src/silverbirch/report/script/toolbar.js";
import { Tree } from "../../src/silverbirch/report/script/tree.js";
import { unpack } from "../../src/silverbirch/report/script/unpack.js";
import { ancestors, chain, random, randomTree, treeOf } from "./trees.js";

const PYTHON = JSON.parse(readFileSync(new URL("labels.json", import.meta.url)));

for (const [name, { data, labels, rmsd }] of Object.entries(PYTHON)) {
  test(`labels and rmsd are Python's: ${name}`, async () => {
    const { header, arrays } = await unpack(data);
    const tree = new Tree(header, arrays);
    for (const k of Object.keys(labels)) {
      const cut = partition(tree, { k: +k });
      assert.deepEqual(Array.from(cut.labels()), labels[k]);
      assert.ok(Math.abs(cut.rmsd - rmsd[k]) <= 1e-6 * rmsd[1]);
    }
  });
}

test("the clusters of a cut cover all leaves once", () => {
  for (const tree of [randomTree(80, 1), chain(30)]) {
    for (let k = 1; k <= tree.n; k++) {
      const nodes = partition(tree, { k }).nodes();
      assert.equal(nodes.length, k);
      const covered = Array.from(nodes).flatMap((v) => Array.from({ length: tree.count[v] }, (_, i) => tree.first[v] + i));
      assert.deepEqual(covered.sort((a, b) => a - b), Array.from({ length: tree.n }, (_, i) => i));
    }
  }
});

test("the largest clusters are the first of all, labelled by their rank", () => {
  const tree = randomTree(400, 2);
  for (const k of [1, 5, 120, 400]) {
    const all = partition(tree, { k }).largest();
    const cut = partition(tree, { k });
    assert.deepEqual(cut.largest(9), all.slice(0, 9));
    assert.deepEqual(cut.labelsOf(all.map(({ node }) => node)), all.map(({ label }) => label));
    for (let i = 1; i < all.length; i++) assert.ok(tree.weight[all[i - 1].node] >= tree.weight[all[i].node]);
  }
  assert.equal(partition(tree, { k: 5 }).labelOf(tree.root), -1);
});

test("an adaptive cut leaves the rest as noise, and neighbours differ in colour", () => {
  const tree = randomTree(300, 3);
  const selected = Array.from({ length: 40 }, (_, i) => tree.leaf[7 * i]);
  const cut = partition(tree, { adaptive: 0 }, [selected]);
  assert.equal(cut.k, 40);
  assert.equal(cut.noiseWeight, 260);
  const labels = cut.labels();
  for (let p = 0; p < tree.n; p++) assert.equal(labels[tree.leaf[p]] === -1, p % 7 !== 0 || p >= 280);
  for (let i = 1; i < 40; i++) assert.notEqual(cut.colourOf(selected[i]), cut.colourOf(selected[i - 1]));
});

test("an adaptive cut finds the selected branch above a node", () => {
  const tree = randomTree(120, 4);
  const selected = partition(tree, { k: 15 }).nodes().filter((_, i) => i % 3);
  const cut = partition(tree, { adaptive: 0 }, [selected]);
  for (let v = 0; v <= tree.root; v++) {
    assert.equal(cut.topOf(v), ancestors(tree, v).find((u) => selected.includes(u)) ?? -1);
    assert.equal(cut.has(v), selected.includes(v));
  }
});

test("one cluster explains no variance, however the squares are added up", () => {
  const next = random(5), heights = () => Float32Array.from({ length: 99 }, next).sort();
  for (let seed = 0; seed < 20; seed++) {
    const tree = randomTree(100, seed, heights());
    assert.match(inWords({ tree, partition: () => partition(tree, { k: 1 }) }), /^1 cluster, rmsd [\d.]+, 0\.0 % of the variance/);
  }
});

test("a number of clusters out of range becomes the nearest possible one", () => {
  const tree = treeOf([0, 1]);
  assert.equal(partition(tree, { k: 99 }).k, 3);
  assert.equal(partition(tree, { k: 0 }).k, 1);
});
