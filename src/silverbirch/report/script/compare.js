// The selected branch beside all rows, or beside another branch.
import { h, replace } from "./dom.js";
import { columnValue, strongest } from "./effects.js";
import { count, number, percent, signed } from "./format.js";
import { itemsCell } from "./items.js";
import { called, figure, filled, quiet, rowHead, scrolling, section, swatch, unit } from "./parts.js";

const MOST_CHOICES = 200;

/** @param {object} view */
export function comparePanel(view) {
  const { store, tree } = view, box = scrolling("Comparison"), hint = quiet("Select a cluster here or in any picture.");
  const [first, second] = ["selected", "compared"].map((key) => {
    const change = ({ target: { value } }) => store.set({ [key]: value === "" ? null : Number(value) });
    return h("select", { change });
  });

  function fill() {
    const { selected, compared } = store.state;
    choices(first, "none", selected);
    choices(second, "all rows", compared);
    hint.hidden = selected !== null;
    box.hidden = !hint.hidden;
    if (selected === null) return;
    replace(box, comparison(view, selected, compared ?? tree.root), compared !== null && relation(view, selected, compared));
  }

  /** Lists the largest clusters, after a branch that is none of them. */
  function choices(chooser, nothing, chosen) {
    const nodes = new Map(chosen === null ? [] : [[chosen, -1]]);
    for (const { node, label } of view.partition().largest(MOST_CHOICES)) nodes.set(node, label);
    const options = [...nodes].map(([value, label]) => h("option", { value, selected: value === chosen }, called(view, value, label)));
    replace(chooser, h("option", { value: "" }, nothing), options);
  }

  const bar = h("p", { class: "bar" }, h("label", {}, "Selected ", first), h("label", {}, "beside ", second));
  return filled(section("compare", "Compare", bar, hint, box), ["cut", "selected", "compared"], fill);
}

function comparison(view, ...both) {
  const { tree } = view, { header } = view.data;
  const line = (name, cell) => h("tr", {}, rowHead(name), both.map(cell), h("td", { colspan: 2 }));
  const figures = (name, text) => line(name, (node) => figure(text(node)));
  const named = (node) => (node === tree.root ? "all rows" : [swatch(view, node), called(view, node)]);
  const head = line("", (node) => h("th", { scope: "col", class: "figure" }, named(node)));
  return h("table", {}, h("thead", {}, head), h("tbody", {},
    figures(unit(view), (node) => `${count(tree.weight[node])} (${percent(tree.weight[node] / tree.weight[tree.root])})`),
    figures("leaves", (node) => count(tree.count[node])),
    tree.sse && figures("rmsd", (node) => number(tree.rmsd(node))),
    header.representatives && line("representatives", (node) => itemsCell(view, node)),
    !header.embedding && differenceLines(header.columns, ...both.map(view.means))));
}

/** The columns that differ most: both values, and the means as discs on a line, the second one hollow. */
function differenceLines(columns, a, b) {
  const found = strongest(a && b ? a.map((z, j) => z - b[j]) : [], 8);
  const reach = Math.max(...found.flatMap(({ column }) => [Math.abs(a[column]), Math.abs(b[column])]));
  return found.map(({ column, effect }) => {
    const [x, y] = [a, b].map((z) => 50 + (46 * z[column]) / reach);
    const style = `--a: ${x}%; --b: ${y}%; --from: ${Math.min(x, y)}%; --gap: ${Math.abs(x - y)}%`;
    const values = [a, b].map((z) => figure(columnValue(columns[column], z[column])));
    const span = h("td", { class: "span", style }, h("i"), h("i"), h("i"));
    return h("tr", {}, rowHead(h("bdi", {}, columns[column].name)), values, span, figure(`${signed(effect, 2)} s.d.`));
  });
}

/** Where two branches merge, and how far apart their means are. */
function relation(view, a, b) {
  const { tree } = view, top = tree.lca(a, b), [za, zb] = [a, b].map(view.means);
  const merge = `They merge at height ${number(tree.height[top])}, in a branch of ${count(tree.weight[top])} ${unit(view)}.`;
  const inside = top === a || top === b ? "One is part of the other." : merge;
  const gaps = za && zb && view.data.header.columns.map(({ deviation }, j) => deviation * (za[j] - zb[j]));
  return quiet(inside, gaps?.length > 0 && ` Their means are ${number(Math.hypot(...gaps))} apart, in the units of the columns.`);
}
