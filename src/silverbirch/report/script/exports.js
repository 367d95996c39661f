// What can be taken away: the cut as Python, labels and the table as CSV.
import { csvPieces } from "./csv.js";
import { h } from "./dom.js";
import { itemTexts } from "./items.js";
import { button, section, unit } from "./parts.js";

/** The line of Python that makes a cut. */
export function pythonText({ adaptive, python: { object } }, cut) {
  const options = cut.k ? `n_clusters=${cut.k}` : adaptive[cut.adaptive].python;
  return object === "model" ? `labels = model.recut(${options}).labels_` : `labels = ${object}.cut(${options})`;
}

/** The table of all clusters in pieces of CSV, numbers with all their digits. */
export function tableCsv(view) {
  const { tree } = view, { header } = view.data, clusters = view.partition().largest();
  const columns = header.embedding ? [] : header.columns;
  const texts = (node) => view.representatives(node).map((item) => itemTexts(header, item).join(", ")).join("; ");
  const heads = ["cluster", "name", unit(view), "share", "rmsd", "representatives", ...columns.map(({ name }) => `mean of ${name}`)];
  return csvPieces(heads, clusters.length, (i) => {
    const { node, label } = clusters[i], means = view.facts(node)?.values;
    const weight = tree.weight[node];
    return [label, view.name(node), weight, weight / tree.weight[tree.root], tree.rmsd(node), texts(node), ...columns.map((_, j) => means?.[j])];
  });
}

/** The label of each leaf, or that of each row, in pieces of CSV. */
export function labelsCsv(view, rowLeaf) {
  const labels = view.partition().labels();
  const labelAt = rowLeaf ? (row) => labels[rowLeaf[row]] : (leaf) => labels[leaf];
  return csvPieces([rowLeaf ? "row" : "leaf", "cluster"], (rowLeaf ?? labels).length, (i) => [i, labelAt(i)]);
}

/** @param {object} view */
export function exportsPanel(view) {
  const { header, arrays } = view.data, code = h("code", { tabindex: 0 }), said = h("span", { role: "status" });
  const saves = [["Table of clusters", "clusters", () => ["\ufeff", ...tableCsv(view)]], ["Labels of leaves", "leaves", () => labelsCsv(view)]]; // the mark tells Excel that it is UTF-8
  if (arrays.row_leaf) saves.push(["Labels of rows", "rows", () => labelsCsv(view, arrays.row_leaf)]);
  const copy = async () => {
    await navigator.clipboard.writeText(code.textContent).catch(() => {
      getSelection().selectAllChildren(code);
      document.execCommand("copy"); // where the browser forbids the clipboard, the text is selected at least
    });
    said.textContent = "Copied.";
  };
  const stem = header.title.replace(/[^\p{L}\p{N}]+/gu, "-");
  const buttons = saves.map(([text, name, pieces]) => button(`${text} (CSV)`, () => download(`${stem}-${name}-${view.partition().k}.csv`, pieces())));
  return {
    element: section("exports", "Take it along", h("p", { class: "bar" }, code, button("Copy as Python", copy), said), h("p", { class: "bar" }, buttons)),
    update(state, changed) {
      if (!changed.has("cut")) return;
      code.textContent = pythonText(header, state.cut);
      said.textContent = "";
    },
  };
}

function download(name, pieces) {
  const url = URL.createObjectURL(new Blob(pieces, { type: "text/csv;charset=utf-8" }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
