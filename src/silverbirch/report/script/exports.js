// What can be taken away: the cut as Python, labels and the table as CSV.
import { csvText } from "./csv.js";
import { h } from "./dom.js";
import { inUnits } from "./effects.js";
import { itemTexts } from "./items.js";
import { button, section, unit } from "./parts.js";

/** The line of Python that makes a cut. */
export function pythonText({ adaptive, python: { object } }, cut) {
  const options = cut.k ? `n_clusters=${cut.k}` : adaptive[cut.adaptive].python;
  return object === "model" ? `labels = model.recut(${options}).labels_` : `labels = ${object}.cut(${options})`;
}

/** The table of all clusters as CSV, numbers with all their digits. */
export function tableCsv(view) {
  const { tree } = view, { header } = view.data, columns = header.embedding ? [] : header.columns;
  const texts = (node) => view.representatives(node).map((item) => itemTexts(header, item).join(", ")).join("; ");
  const heads = ["cluster", "name", unit(view), "share", "rmsd", "representatives", ...columns.map(({ name }) => `mean of ${name}`)];
  const rows = view.partition().largest().map(({ node, label }) => {
    const weight = tree.weight[node], z = view.means(node);
    return [label, view.name(node), weight, weight / tree.weight[tree.root], tree.rmsd(node), texts(node), ...columns.map((column, j) => z && inUnits(column, z[j]))];
  });
  return csvText([heads, ...rows]);
}

/** The label of each leaf, or that of each row, as CSV. */
export function labelsCsv(view, rowLeaf) {
  const labels = view.partition().labels();
  const rows = Array.from(rowLeaf ?? labels, (leaf, i) => [i, rowLeaf ? labels[leaf] : leaf]);
  return csvText([[rowLeaf ? "row" : "leaf", "cluster"], ...rows]);
}

/** @param {object} view */
export function exportsPanel(view) {
  const { header, arrays } = view.data, code = h("code", { tabindex: 0 }), said = h("span", { role: "status" });
  const saves = [
    ["Table of clusters", "clusters", () => `\ufeff${tableCsv(view)}`], // the mark tells Excel that it is UTF-8
    ["Labels of leaves", "leaves", () => labelsCsv(view)],
    ["Labels of rows", "rows", () => labelsCsv(view, arrays.row_leaf)],
  ].slice(0, arrays.row_leaf ? 3 : 2);
  const copy = async () => {
    getSelection().selectAllChildren(code); // for browsers that forbid the clipboard
    const done = await navigator.clipboard?.writeText(code.textContent).then(() => true, () => false);
    said.textContent = done ? "Copied." : "Selected; press Ctrl+C.";
  };
  const stem = header.title.replace(/[^\p{L}\p{N}]+/gu, "-");
  const buttons = saves.map(([text, name, content]) => {
    const save = () => download(`${stem}-${name}-${view.partition().k}.csv`, content());
    return button(`${text} (CSV)`, save);
  });
  return {
    element: section(
      "exports",
      "Take it along",
      h("p", { class: "bar" }, code, button("Copy as Python", copy), said),
      h("p", { class: "bar" }, buttons),
    ),
    update(state, changed) {
      if (!changed.has("cut")) return;
      code.textContent = pythonText(header, state.cut);
      said.textContent = "";
    },
  };
}

function download(name, content) {
  const url = URL.createObjectURL(new Blob([content], { type: "text/csv;charset=utf-8" }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
