// The means of the clusters as a heat map: a table with one column for each cluster, in the order of the dendrogram.
import { h, replace } from "./dom.js";
import { columnValue, meansOf, mostSpread } from "./effects.js";
import { count, number, signed } from "./format.js";
import { called, filled, noteAt, quiet, rowHead, scrolling, section, swatch, toggle } from "./parts.js";

const HEAT_COLUMNS = 24;
const HEAT_CLUSTERS = 100;
const READABLE = 12; // up to so many clusters have their values written in the cells
const CROWDED = 40; // more have no room for their labels

/** @param {object} view */
export function heatmapPanel(view) {
  const { tree } = view, { header, arrays } = view.data, { columns } = header;
  if (header.embedding || !arrays.fact_z?.length) return null;
  const note = h("div", { class: "note", hidden: true }), caption = quiet();
  const choose = (event) => at(event) && toggle(view, at(event).node);
  const table = h("table", { pointerover: point, pointerleave: () => noteAt(note), click: choose });
  let shown = [];

  function fill() {
    const { k } = view.partition(), { selected } = view.store.state;
    shown = view.partition().largest(HEAT_CLUSTERS).map(({ node, label }) => {
      return { node, label, z: meansOf(view, node), kind: node === selected && "chosen" };
    });
    shown.sort((a, b) => tree.first[a.node] - tree.first[b.node]);
    const known = shown.filter(({ z }) => z), limit = heatLimit(known.flatMap(({ z }) => Array.from(z)));
    const lines = mostSpread(known.map(({ z }) => z), known.map(({ node }) => tree.weight[node]), HEAT_COLUMNS);
    const heads = shown.map(({ node, label, kind }) => h("th", { scope: "col", class: kind }, swatch(view, node), label));
    const rows = lines.map((j) => {
      const cells = shown.map(({ z, kind }) => heatCell(columns[j], z?.[j], limit, kind));
      return h("tr", {}, rowHead(h("bdi", {}, columns[j].name)), cells);
    });
    table.className = `heat ${shown.length > READABLE ? "dense" : ""} ${shown.length > CROWDED ? "crowded" : ""}`;
    replace(table, h("thead", {}, h("tr", {}, h("th"), heads)), h("tbody", {}, rows));
    const which = shown.length < k ? `The ${shown.length} largest of ${count(k)} clusters` : "The clusters";
    const many = columns.length > HEAT_COLUMNS;
    const what = many ? ` and the ${lines.length} of ${count(columns.length)} columns in which they differ most` : "";
    const scale = `Blue is below, orange above the mean of all rows; full colours from ${number(limit, 1)} standard deviations on.`;
    caption.textContent = `${which}${what}, in the order of the dendrogram. ${scale}`;
  }

  function at(event) {
    return shown[event.target.closest("td, th")?.cellIndex - 1];
  }

  function point(event) {
    const cluster = at(event), cell = event.target.closest("td, th");
    if (!cluster) return noteAt(note);
    const box = cell.getBoundingClientRect(), frame = note.parentElement.getBoundingClientRect();
    const value = cell.dataset.note ? `${cell.parentElement.firstChild.textContent} ${cell.dataset.note}` : "";
    const lines = [called(view, cluster.node, cluster.label), value];
    return noteAt(note, box.x + box.width / 2 - frame.x, box.y - frame.y, lines);
  }

  const plot = h("div", { class: "plot" }, scrolling("Means of the clusters", table), note);
  return filled(section("heatmap", "Means", plot, caption), ["cut", "selected"], fill);
}

/** The size of a value in full colour, a multiple of 0.5: most values are smaller. */
export function heatLimit(z) {
  const sizes = z.map(Math.abs).sort((a, b) => a - b);
  return Math.max(0.5, Math.round(2 * (sizes[Math.floor(0.95 * sizes.length)] ?? 0)) / 2);
}

/** The style sheet mixes the colour from the share of the full one. */
function heatCell(column, z, limit, kind) {
  const value = columnValue(column, z);
  if (z === undefined) return h("td", { class: kind, "data-note": "not in this page" }, h("span", {}, value));
  const part = Math.min(100, (100 * Math.abs(z)) / limit).toFixed(0);
  const style = `--end: var(${z < 0 ? "--low" : "--high"}); --part: ${part}%`;
  return h("td", { class: kind, style, "data-note": `${value} (${signed(z, 2)} s.d.)` }, h("span", {}, value));
}
