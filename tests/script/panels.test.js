import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { csvCell } from "../../src/silverbirch/report/script/csv.js";
import { votesByCount } from "../../src/silverbirch/report/script/curve.js";
import { inUnits, mostSpread, strongest } from "../../src/silverbirch/report/script/effects.js";
import { labelsCsv, pythonText, tableCsv } from "../../src/silverbirch/report/script/exports.js";
import { createView } from "../../src/silverbirch/report/script/main.js";
import { clustersOfPoints } from "../../src/silverbirch/report/script/scatter.js";
import { frameOf, numbered, searched, searchEntries } from "../../src/silverbirch/report/script/search.js";
import { firstClusters, rowCounter } from "../../src/silverbirch/report/script/table.js";
import { unpack } from "../../src/silverbirch/report/script/unpack.js";
import { ancestors, random, randomTree } from "./trees.js";

const PYTHON = JSON.parse(readFileSync(new URL("tables.json", import.meta.url)));
const DATA = await unpack(PYTHON.data);

function viewAt(cut, names = {}) {
  const view = createView({ ...DATA, header: { ...DATA.header, names } });
  view.store.set({ cut });
  return view;
}

function near(a, b) {
  assert.ok(Math.abs(a - b) <= 1e-3 * Math.max(1, Math.abs(b)), `${a} is not ${b}`);
}

/** Reads CSV as RFC 4180 says. */
function parsed(text) {
  const cells = text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g);
  const rows = [[]];
  for (const [, quoted, plain, end] of cells) {
    rows.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== ",") rows.push([]);
  }
  return rows.slice(0, -1);
}

for (const [k, table] of Object.entries(PYTHON.tables)) {
  test(`sizes, means and distinguishing columns are those of Python's table, k = ${k}`, () => {
    const view = viewAt({ k: Number(k) });
    const clusters = view.partition().largest();
    assert.deepEqual(clusters.map(({ node }) => view.tree.weight[node]), table.rows);
    for (const { node, label } of clusters) {
      near(view.tree.rmsd(node), table.rmsd[label]);
      view.data.header.columns.forEach((column, j) => near(inUnits(column, view.means(node)[j]), table.center[label][j]));
      const found = strongest(view.means(node));
      if (k > 1) assert.deepEqual(found.map(({ column }) => column), table.distinguishing[label]);
      found.forEach(({ effect }, i) => near(effect, table.effect[label][i]));
    }
  });

  test(`labels of rows and the table as CSV are Python's, k = ${k}`, () => {
    const view = viewAt({ k: Number(k) });
    const labels = parsed(labelsCsv(view, view.data.arrays.row_leaf));
    assert.deepEqual(labels[0], ["row", "cluster"]);
    assert.deepEqual(labels.slice(1), table.labels.map((label, row) => [String(row), String(label)]));
    const [heads, ...rows] = parsed(tableCsv(view));
    assert.equal(rows.length, Number(k));
    rows.forEach((row, label) => {
      assert.equal(row[heads.indexOf("rows")], String(table.rows[label]));
      near(Number(row[heads.indexOf("mean of column c")]), table.center[label][2]);
    });
  });
}

test("of equal effects the lowest column comes first, and columns without effect are left out", () => {
  assert.deepEqual(strongest([0, -2, 2, 1, 0, 2], 3).map(({ column }) => column), [1, 2, 5]);
  assert.deepEqual(strongest([0, 0]), []);
});

test("the columns of the heat map are those of the greatest weighted spread, in their order", () => {
  assert.deepEqual(mostSpread([[3, 0, 1], [0, 2, -1]], [1, 10], 2), [1, 2]);
  assert.deepEqual(mostSpread([], [], 2), []);
});

test("a cell of CSV is read back as it was, but for an apostrophe before what a spreadsheet would compute", () => {
  for (const text of ["plain", "a,b", 'say "no"', "two\r\nlines", "", "Ünï, côdé"]) assert.deepEqual(parsed(`${csvCell(text)}\r\n`), [[text]]);
  for (const text of ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", " =1", "\uff1d1", '=HYPERLINK("http://x","y")']) {
    assert.deepEqual(parsed(`${csvCell(text)}\r\n`), [[`'${text}`]]);
  }
  assert.equal(csvCell(-1.5), "-1.5");
  assert.equal(csvCell(null), "");
});

test("the Python line says the cut", () => {
  const header = { python: { object: "model" }, adaptive: [{ python: "method='eom', min_size=20, noise=True" }] };
  assert.equal(pythonText(header, { k: 12 }), "labels = model.recut(n_clusters=12).labels_");
  assert.equal(pythonText(header, { adaptive: 0 }), "labels = model.recut(method='eom', min_size=20, noise=True).labels_");
  assert.equal(pythonText({ ...header, python: { object: "dendrogram" } }, { k: 3 }), "labels = dendrogram.cut(n_clusters=3)");
});

test("search finds names and texts without accents and capitals, all words in any order, beginnings first", () => {
  const view = viewAt({ k: 4 }, { 3: "Ångström unit", 5: "the angstrom", 170: "Angstrom" });
  const entries = searchEntries(view);
  const names = (query) => searched(entries, query, view.tree.weight).map(({ text }) => text);
  assert.deepEqual(names("ANGSTROM"), ["Angstrom", "Ångström unit", "the angstrom"]);
  assert.deepEqual(names("unit ång"), ["Ångström unit"]);
  assert.deepEqual(names("  "), []);
  assert.deepEqual(names("no such thing"), []);
  assert.ok(names("cafe north").length > 1);
});

test("a text is found in the smallest branch that it stands for", () => {
  const view = viewAt({ k: 4 });
  const { items, of } = view.data.header.representatives;
  for (const { text, node } of searchEntries(view)) {
    const item = items.findIndex(([value]) => value === text);
    const holders = Object.keys(of).filter((other) => of[other].includes(item));
    assert.ok(holders.includes(String(node)));
    assert.equal(view.tree.count[node], Math.min(...holders.map((other) => view.tree.count[other])));
  }
});

test("the text of every row is found in its leaf, and a leaf is called as the row that stands for it", () => {
  const { header, arrays } = DATA, { row_leaf: rowLeaf } = arrays, n = header.n;
  const texts = [Array.from(rowLeaf, (_, row) => `row ${row}`), Array.from(rowLeaf, (_, row) => (row % 2 ? null : `even ${row}`))];
  const leafRow = Int32Array.from({ length: n }, (_, leaf) => rowLeaf.indexOf(leaf));
  const view = createView({ header: { ...header, names: { 0: "first" }, texts }, arrays: { ...arrays, leaf_row: leafRow } });
  const [name, ...entries] = searchEntries(view);
  assert.deepEqual(name, { text: "first", key: "first", node: 0 });
  assert.deepEqual(entries.map(({ node }) => node), [...rowLeaf]);
  assert.deepEqual(entries.slice(0, 2).map(({ text }) => text), ["row 0, even 0", "row 1"]);
  assert.equal(view.name(0), "first");
  for (let leaf = 1; leaf < n; leaf++) assert.equal(view.name(leaf), leafRow[leaf] < 0 ? null : `row ${leafRow[leaf]}`);
  for (let node = n; node <= view.tree.root; node++) assert.equal(view.name(node), null);
});

test("a number means a cluster of the present cut", () => {
  const view = viewAt({ k: 9 });
  for (const label of [0, 7, 8]) assert.equal(view.label(numbered(view, ` ${label}`)[0].node), label);
  for (const query of ["9", "x", "", "1.5", "-1", "1 2"]) assert.deepEqual(numbered(view, query), []);
});

test("the frame of a branch contains it and no more than is needed to see it among its neighbours", () => {
  const tree = randomTree(5000, 4);
  for (let node = 0; node <= tree.root; node += 7) {
    const frame = frameOf(tree, node), wanted = Math.max(40, 6 * tree.count[node]);
    assert.ok(tree.isWithin(node, frame) && (tree.count[frame] >= wanted || frame === tree.root));
    for (const other of ancestors(tree, node)) if (other < frame) assert.ok(tree.count[other] < wanted);
  }
});

test("the cluster of a point is the one above it", () => {
  const tree = randomTree(300, 6);
  for (const points of [1, 40, 300]) {
    const nodes = Array.from({ length: 2 * tree.n - 1 }, (_, v) => v).filter((v) => v < 2 * tree.n - points && !(tree.parent[v] >= 0 && tree.parent[v] < 2 * tree.n - points));
    assert.equal(nodes.length, points);
    for (const chosen of [new Set([tree.root]), new Set([tree.left[250], tree.right[250], 7])]) {
      const found = clustersOfPoints(tree, Uint32Array.from(nodes), (v) => chosen.has(v));
      nodes.forEach((v, i) => assert.equal(found[i], ancestors(tree, v).findLast((other) => chosen.has(other)) ?? -1));
    }
  }
});

test("the table is sorted as asked, and turned round", () => {
  const view = viewAt({ k: 9 }, {});
  const rmsd = (sort) => firstClusters(view, sort, 9).map(({ node }) => view.tree.rmsd(node));
  assert.deepEqual(firstClusters(view, "", 4), view.partition().largest(4));
  assert.deepEqual(firstClusters(view, "-label", 9).map(({ label }) => label), [8, 7, 6, 5, 4, 3, 2, 1, 0]);
  assert.deepEqual(rmsd("rmsd"), rmsd("").sort((a, b) => b - a));
  assert.deepEqual(rmsd("-rmsd"), rmsd("").sort((a, b) => a - b));
  assert.equal(firstClusters(view, "nonsense", 2).length, 2);
});

test("rows are counted below every node", () => {
  const tree = randomTree(50, 7);
  const next = random(8);
  const rowLeaf = Uint32Array.from({ length: 200 }, () => Math.floor(next() * 50));
  const rowsOf = rowCounter(tree, rowLeaf);
  for (let v = 0; v <= tree.root; v++) assert.equal(rowsOf(v), rowLeaf.filter((leaf) => tree.isWithin(leaf, v)).length);
});

test("votes for the same k stand together, the suggestion first among them", () => {
  const votes = votesByCount({ k: 4, votes: { gap: 4, silhouette: 2, stability: null, "height gap": 4 } });
  assert.deepEqual(votes, [{ k: 2, names: ["silhouette"] }, { k: 4, names: ["suggested", "gap", "height gap"] }]);
  assert.deepEqual(votesByCount(null), []);
});
