// The means of the clusters as a heat map: a table with one column for each cluster, in the order of the dendrogram.
import { h, replace } from "./dom.js";
import { columnValue, mostSpread } from "./effects.js";
import { count, signed } from "./format.js";
import { filled, quiet, rowHead, scrolling, section, swatch, toggle } from "./parts.js";

const HEAT_COLUMNS = 24;
const HEAT_CLUSTERS = 60;
const READABLE = 12; // up to so many clusters have their values written in the cells
const FULL_COLOUR = 3; // standard deviations

/** @param {object} view */
export function heatmapPanel(view) {
  const { tree } = view, { embedding, columns } = view.data.header;
  if (embedding || !columns.length) return null;
  const table = h("table", { click }), caption = quiet();
  let shown = [];

  function fill() {
    const { k } = view.partition(), { selected } = view.store.state, { first, weight } = tree;
    shown = view.partition().largest(HEAT_CLUSTERS).sort((a, b) => first[a.node] - first[b.node]);
    const means = shown.map(({ node }) => view.means(node)), kinds = shown.map(({ node }) => node === selected && "chosen");
    const known = shown.filter((_, i) => means[i]);
    const lines = mostSpread(means.filter(Boolean), known.map(({ node }) => weight[node]), HEAT_COLUMNS);
    const heads = shown.map(({ node, label }, i) => h("th", { scope: "col", class: kinds[i] }, swatch(view, node), label));
    const rows = lines.map((j) => h("tr", {}, rowHead(h("bdi", {}, columns[j].name)), means.map((z, i) => heatCell(columns[j], z?.[j], kinds[i]))));
    table.className = shown.length > READABLE ? "heat dense" : "heat";
    replace(table, h("thead", {}, h("tr", {}, h("th"), heads)), h("tbody", {}, rows));
    const which = shown.length < k ? `The ${shown.length} largest of ${count(k)} clusters` : "The clusters";
    const what = columns.length > HEAT_COLUMNS ? ` and the ${lines.length} of ${count(columns.length)} columns in which they differ most` : "";
    caption.textContent = `${which}${what}, in the order of the dendrogram. Blue is below, orange above the mean of all rows.`;
  }

  function click(event) {
    const cluster = shown[event.target.closest("td, th")?.cellIndex - 1];
    if (cluster) toggle(view, cluster.node);
  }

  return filled(section("heatmap", "Means", scrolling("Means of the clusters", table), caption), ["cut", "selected"], fill);
}

/** The style sheet mixes the colour from its share, which grows fast at first: small differences can be seen, too. */
function heatCell(column, z, kind) {
  const value = columnValue(column, z), known = z !== undefined, share = Math.min(1, Math.sqrt(Math.abs(z) / FULL_COLOUR));
  const style = known && `--end: var(${z < 0 ? "--low" : "--high"}); --part: ${(100 * share).toFixed(0)}%`;
  const title = known ? `${column.name} ${value} (${signed(z, 2)} s.d.)` : "not in this page";
  return h("td", { class: kind, style, title }, h("span", {}, value));
}
