// The selected branch beside all rows, or beside another branch.
import { h, replace } from "./dom.js";
import { columnValue, meansOf, strongest } from "./effects.js";
import { count, number, percent, signed } from "./format.js";
import { itemsCell } from "./items.js";
import { called, filled, scrolling, section, swatch, unit } from "./parts.js";

const MOST_CHOICES = 200;

/** The cluster that a branch joins next: the branch beside it, or the heaviest cluster there; -1 for the root. */
export function nextPartner({ tree, partition }, node) {
  const { n, left, right, parent, weight } = tree, row = parent[node] - n;
  if (row < 0) return -1;
  let other = left[row] === node ? right[row] : left[row];
  while (partition().topOf(other) < 0 && other >= n) {
    const [a, b] = [left[other - n], right[other - n]];
    other = weight[a] >= weight[b] ? a : b;
  }
  return other;
}

/** @param {object} view */
export function comparePanel(view) {
  const { store, tree } = view;
  const choosers = ["selected", "compared"].map((key) => h("select", { change: (event) => store.set({ [key]: event.target.value ? Number(event.target.value) : null }) }));
  const box = scrolling("Comparison"), hint = h("span", { class: "quiet" }, "Select a cluster here or in any picture.");

  function fill() {
    const { selected, compared } = store.state, largest = view.partition().largest(MOST_CHOICES);
    const partner = selected === null ? -1 : nextPartner(view, selected);
    choices(choosers[0], "none", selected, largest);
    choices(choosers[1], "all rows", compared, largest, partner);
    hint.hidden = selected !== null;
    box.hidden = !hint.hidden;
    replace(box, !box.hidden && [comparison(view, selected, compared ?? tree.root), compared !== null && relation(view, selected, compared)]);
  }

  function choices(chooser, nothing, chosen, largest, partner = -1) {
    const other = [partner, chosen ?? -1].filter((node, i) => node >= 0 && (i === 0 || (node !== partner && !largest.some((cluster) => cluster.node === node))));
    const option = (node, label, after = "") => h("option", { value: node, selected: node === chosen }, called(view, node, label) + after);
    const options = other.map((node) => option(node, view.label(node), node === partner ? " (joins it next)" : ""));
    replace(chooser, h("option", { value: "" }, nothing), options, largest.filter(({ node }) => node !== partner).map(({ node, label }) => option(node, label)));
  }

  const bar = h("p", { class: "bar" }, h("label", {}, "Selected ", choosers[0]), h("label", {}, "beside ", choosers[1]), hint);
  return filled(section("compare", "Compare", bar, box), ["cut", "selected", "compared"], fill);
}

function comparison(view, a, b) {
  const { tree } = view, { header } = view.data, both = [a, b];
  const line = (name, cell) => h("tr", {}, h("th", { scope: "row" }, name), both.map(cell), h("td", { colspan: 2 }));
  const figures = (name, text) => line(name, (node) => h("td", { class: "figure" }, text(node)));
  const [za, zb] = both.map((node) => meansOf(view, node));
  return h("table", {},
    h("thead", {}, line("", (node) => h("th", { scope: "col", class: "figure" }, node === tree.root ? "all rows" : [swatch(view, node), called(view, node)]))),
    h("tbody", {},
      figures(unit(view), (node) => `${count(tree.weight[node])} (${percent(tree.weight[node] / tree.weight[tree.root])})`),
      figures("leaves", (node) => count(tree.count[node])),
      tree.sse && figures("rmsd", (node) => number(tree.rmsd(node))),
      header.representatives && line("representatives", (node) => itemsCell(view, node, 5)),
      !header.embedding && za && zb && differenceLines(header.columns, za, zb)));
}

/** The columns that differ most: both values, and the means as discs on a line, the second one hollow. */
function differenceLines(columns, a, b) {
  const found = strongest(a.map((z, j) => z - b[j]), 8);
  const reach = Math.max(...found.map(({ column }) => Math.max(Math.abs(a[column]), Math.abs(b[column]))));
  return found.map(({ column, effect }) => {
    const places = [a, b].map((z) => 50 + (46 * z[column]) / reach);
    const style = `--a: ${places[0].toFixed(1)}%; --b: ${places[1].toFixed(1)}%; --low-end: ${Math.min(...places).toFixed(1)}%; --gap: ${Math.abs(places[0] - places[1]).toFixed(1)}%`;
    const values = [a, b].map((z) => h("td", { class: "figure" }, columnValue(columns[column], z[column])));
    return h("tr", {}, h("th", { scope: "row" }, h("bdi", {}, columns[column].name)), values, h("td", { class: "span", style }, h("i", {}), h("i", {}), h("i", {})), h("td", { class: "figure" }, `${signed(effect, 2)} s.d.`));
  });
}

/** Where two branches merge, and how far apart their means are. */
function relation(view, a, b) {
  const { tree } = view, top = tree.lca(a, b), [za, zb] = [a, b].map((node) => meansOf(view, node));
  const inside = top === a || top === b ? "One is part of the other." : `They merge at height ${number(tree.height[top])}, in a branch of ${count(tree.weight[top])} ${unit(view)}.`;
  const gaps = za && zb && view.data.header.columns.map(({ deviation }, j) => deviation * (za[j] - zb[j]));
  return h("p", { class: "quiet" }, inside, gaps?.length > 0 && ` Their means are ${number(Math.hypot(...gaps))} apart.`);
}
