// The means of the clusters as a heat map: a table with one column for each cluster, in the order of the dendrogram.
import { h, replace } from "./dom.js";
import { columnValue, meansOf, mostSpread } from "./effects.js";
import { count, number, signed } from "./format.js";
import { called, filled, noteAt, scrolling, section, swatch, toggle } from "./parts.js";

const HEAT_COLUMNS = 24;
const HEAT_CLUSTERS = 100;
const READABLE = 12; // up to so many clusters have their values written in the cells
const CROWDED = 40; // more have no room for their labels

/** The size of a value in full colour, a multiple of 0.5: most values are smaller. */
export function heatLimit(z) {
  const sizes = z.map(Math.abs).sort((a, b) => a - b);
  return Math.max(0.5, Math.round(2 * (sizes[Math.floor(0.95 * sizes.length)] ?? 0)) / 2);
}

/** @param {object} view */
export function heatmapPanel(view) {
  const { tree } = view, { header, arrays } = view.data, { columns } = header;
  if (header.embedding || !arrays.fact_z?.length) return null;
  const note = h("div", { class: "note", hidden: true });
  const table = h("table", { pointerover: point, pointerleave: () => noteAt(note), click: choose });
  const caption = h("p", { class: "quiet" });
  let shown = [];

  function fill() {
    const { k } = view.partition(), { selected } = view.store.state;
    shown = view.partition().largest(HEAT_CLUSTERS).map((cluster) => ({ ...cluster, z: meansOf(view, cluster.node) }));
    shown.sort((a, b) => tree.first[a.node] - tree.first[b.node]);
    const known = shown.filter(({ z }) => z);
    const limit = heatLimit(known.flatMap(({ z }) => Array.from(z)));
    const lines = mostSpread(known.map(({ z }) => z), known.map(({ node }) => tree.weight[node]), HEAT_COLUMNS);
    const chosen = ({ node }) => (node === selected ? "chosen" : null);
    const heads = shown.map((cluster) => h("th", { scope: "col", class: chosen(cluster) }, swatch(view, cluster.node), cluster.label));
    const row = (j) => h("tr", {}, h("th", { scope: "row" }, h("bdi", {}, columns[j].name)), shown.map((cluster) => heatCell(columns[j], cluster.z?.[j], limit, chosen(cluster))));
    table.className = `heat ${shown.length > READABLE ? "dense" : ""} ${shown.length > CROWDED ? "crowded" : ""}`;
    replace(table, h("thead", {}, h("tr", {}, h("th", {}), heads)), h("tbody", {}, lines.map(row)));
    const which = shown.length < k ? `The ${shown.length} largest of ${count(k)} clusters` : "The clusters";
    const what = columns.length > HEAT_COLUMNS ? `, the ${lines.length} of ${count(columns.length)} columns in which they differ most` : "";
    const unknown = shown.length - known.length;
    const missing = unknown ? ` The means of ${unknown} of them are not in this page.` : "";
    caption.textContent = `${which}${what}. Blue is below, orange above the mean of all rows, in full colour from ${number(limit, 1)} standard deviations on.${missing}`;
  }

  function at(event) {
    const cell = event.target.closest("td, th");
    return [cell, shown[cell?.cellIndex - 1]];
  }

  function point(event) {
    const [cell, cluster] = at(event);
    if (!cluster) return noteAt(note);
    const box = cell.getBoundingClientRect(), frame = note.parentElement.getBoundingClientRect();
    const value = cell.dataset.value ? [`${cell.parentElement.firstChild.textContent} ${cell.dataset.value}`] : [];
    return noteAt(note, box.x + box.width / 2 - frame.x, box.y - frame.y, [called(view, cluster.node, cluster.label), ...value]);
  }

  function choose(event) {
    const [, cluster] = at(event);
    if (cluster) toggle(view, cluster.node);
  }

  const plot = h("div", { class: "plot" }, scrolling("Means of the clusters", table), note);
  return filled(section("heatmap", "Means", plot, caption), ["cut", "selected"], fill);
}

/** The style sheet mixes the colour from the share of the full one. */
function heatCell(column, z, limit, chosen) {
  if (z === undefined) return h("td", { class: chosen }, h("span", {}, "\u2013"));
  const value = columnValue(column, z);
  const style = `--end: var(${z < 0 ? "--low" : "--high"}); --part: ${Math.min(100, (100 * Math.abs(z)) / limit).toFixed(0)}%`;
  return h("td", { class: chosen, style, "data-value": `${value} (${signed(z, 2)} s.d.)` }, h("span", {}, value));
}
