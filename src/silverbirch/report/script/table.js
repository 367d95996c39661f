// The table of the clusters of the present cut.
import { h, replace } from "./dom.js";
import { columnValue, meansOf, strongest } from "./effects.js";
import { count, decimalsFor, number, percent, signed } from "./format.js";
import { itemsCell } from "./items.js";
import { button, called, filled, scrolling, section, swatch, toggle, unit } from "./parts.js";

const TABLE_ROWS = 200;
const MOST_SORTED = 20_000; // clusters that are sorted by anything but their label
const MOST_KEPT = 4_000; // rows that are kept for other cuts
const FEW_COLUMNS = 8; // with more, the table shows only those in which a cluster differs most

/** The value by which a table is sorted, the lowest first. */
const ORDERS = {
  label: (view, { label }) => label,
  name: (view, { node }) => view.name(node) ?? "\uffff",
  size: ({ tree }, { node }) => -tree.weight[node],
  rmsd: ({ tree }, { node }) => -tree.rmsd(node),
};

/**
 * The first clusters in the order of the table.
 * @param {object} view
 * @param {string} sort a name of ORDERS, with a minus sign in front if turned round; "" for the labels
 * @param {number} most
 * @returns {{node: number, label: number}[]}
 */
export function firstClusters(view, sort, most) {
  const order = ORDERS[sort.replace("-", "")];
  if (!order) return view.partition().largest(most);
  const sign = sort.startsWith("-") ? -1 : 1;
  const keyed = view.partition().largest(MOST_SORTED).map((cluster) => [order(view, cluster), cluster]);
  keyed.sort(([a, x], [b, y]) => (a < b ? -sign : a > b ? sign : x.label - y.label));
  return keyed.slice(0, most).map(([, cluster]) => cluster);
}

/** A function that counts the rows of any node, from the leaf of each row. */
export function rowCounter({ n, first, count: leaves }, rowLeaf) {
  const before = new Float64Array(n + 1); // rows at earlier drawing positions
  for (const leaf of rowLeaf) before[first[leaf] + 1]++;
  for (let p = 0; p < n; p++) before[p + 1] += before[p];
  return (node) => before[first[node] + leaves[node]] - before[first[node]];
}

/** @param {object} view */
export function tablePanel(view) {
  const { tree, store } = view, columns = tableColumns(view);
  const heads = columns.map(({ head, sort, kind }) => h("th", { scope: "col", class: kind }, sort ? button(head, () => sortBy(sort)) : h("bdi", {}, head)));
  const all = h("tbody", { class: "all" }), body = h("tbody", {}), caption = h("p", { class: "quiet" });
  const lines = new Map(); // cells by node: all but the first stay the same at every cut
  let shown = TABLE_ROWS;
  const more = button("", () => {
    shown += TABLE_ROWS;
    fill();
  });

  function line(node, label) {
    if (lines.size > MOST_KEPT) lines.clear();
    if (!lines.has(node)) lines.set(node, h("tr", { "data-node": node }, columns.map(({ cell }) => cell(node))));
    const row = lines.get(node), { selected, compared } = store.state;
    const chooser = h("button", { type: "button", "aria-label": `Select ${called(view, node, label)}`, "aria-pressed": String(node === selected) }, label < 0 ? called(view, node, label) : label);
    replace(row.firstChild, swatch(view, node), chooser);
    row.className = node === selected ? "chosen" : node === compared ? "compared" : "";
    return row;
  }

  function fill() {
    const { selected, compared, sort } = store.state, { k } = view.partition();
    const focused = document.activeElement?.closest("tr[data-node]")?.dataset.node;
    const clusters = firstClusters(view, sort, shown);
    const apart = [...new Set([selected, compared])].filter((v) => v !== null && !clusters.some(({ node }) => node === v));
    const heaviest = k ? tree.weight[view.partition().largest(1)[0].node] : 1;
    replace(all, h("tr", {}, columns.map(({ whole, cell }) => (whole ? cell(tree.root) : h("td")))), apart.map((node) => line(node, view.label(node))));
    all.rows[0].cells[0].replaceWith(h("th", { scope: "row" }, "all rows"));
    replace(body, clusters.map(({ node, label }) => line(node, label)));
    body.style.setProperty("--heaviest", heaviest);
    columns.forEach(({ sort: name }, i) => heads[i].toggleAttribute("data-sorted", name === (sort.replace("-", "") || "label")));
    more.hidden = clusters.length >= k;
    more.textContent = `Show more of ${count(k)} clusters`;
    caption.textContent = tableCaption(view);
    if (focused) lines.get(Number(focused))?.querySelector("button").focus({ preventScroll: true });
  }

  function sortBy(name) {
    const present = store.state.sort || "label";
    store.set({ sort: present === name ? `-${name}` : name });
  }

  /** Selects the cluster of a row; with Shift, Control or Command, compares it with the one selected before. */
  function choose(event) {
    const row = event.target.closest("tr[data-node]"), node = Number(row?.dataset.node), { selected } = store.state;
    if (!row) return;
    if ((event.shiftKey || event.ctrlKey || event.metaKey) && selected !== null && selected !== node) store.set({ compared: node });
    else toggle(view, node);
  }

  const table = h("table", { class: "clusters", click: choose }, h("thead", {}, h("tr", {}, heads)), all, body);
  const panel = filled(section("table", "Clusters", scrolling("Table of clusters", table), more, caption), ["cut", "sort", "selected", "compared"], fill);
  return {
    ...panel,
    update(state, changed) {
      if (changed.has("cut")) shown = TABLE_ROWS;
      panel.update(state, changed);
    },
  };
}

/** The columns: head, name of the order, class, cell of a node, and whether all rows together have one. */
function tableColumns(view) {
  const { tree } = view, { header, arrays } = view.data, total = tree.weight[tree.root];
  const items = header.representatives && { head: "representatives", kind: "items", cell: (node) => itemsCell(view, node, 3) };
  const rowsOf = header.weighted && arrays.row_leaf && rowCounter(tree, arrays.row_leaf);
  const decimals = tree.sse && decimalsFor(tree.rmsd(tree.root));
  const share = (node) => h("td", { class: "figure share", style: `--weight: ${tree.weight[node]}` }, percent(tree.weight[node] / total));
  return [
    { head: "cluster", sort: "label", cell: () => h("th", { scope: "row" }) },
    Object.keys(header.names ?? {}).length > 0 && { head: "name", sort: "name", cell: (node) => h("td", {}, h("bdi", {}, view.name(node))) },
    header.embedding && items,
    rowsOf && figureColumn("rows", null, (node) => count(rowsOf(node))),
    figureColumn(unit(view), "size", (node) => count(tree.weight[node])),
    { head: "share", sort: "size", kind: "figure share", whole: true, cell: share },
    tree.sse && figureColumn("rmsd", "rmsd", (node) => number(tree.rmsd(node), decimals)),
    !header.embedding && items,
    ...(header.embedding ? [] : meanColumns(view)),
  ].filter(Boolean);
}

function figureColumn(head, sort, text) {
  return { head, sort, kind: "figure", whole: true, cell: (node) => h("td", { class: "figure" }, text(node)) };
}

function meanColumns(view) {
  const { columns } = view.data.header, value = (j, z) => (z ? columnValue(columns[j], z[j]) : "\u2013");
  if (columns.length <= FEW_COLUMNS) return columns.map(({ name }, j) => figureColumn(name, null, (node) => value(j, meansOf(view, node))));
  const cell = (node) => {
    const z = meansOf(view, node);
    const found = strongest(z ?? []).map(({ column, effect }) =>
      h("span", {}, h("bdi", {}, columns[column].name), " ", h("b", {}, value(column, z)), " ", h("small", {}, `(${signed(effect, 2)} s.d.)`)));
    return h("td", { class: "where" }, z ? found : h("small", {}, "not in this page"));
  };
  return [{ head: "differs most from all rows in", kind: "where", whole: true, cell }];
}

function tableCaption(view) {
  const { facts, units, embedding, columns } = view.data.header, { k, noiseWeight } = view.partition();
  const parts = [];
  if (noiseWeight > 0) parts.push(`${percent(noiseWeight / view.tree.weight[view.tree.root])} of the ${unit(view)} are noise, in no cluster.`);
  if (!embedding && columns.length) parts.push(units);
  if (!embedding && columns.length && k > facts.complete_to) {
    parts.push(`This page has the means of ${count(facts.nodes)} branches: of every cluster up to k = ${count(facts.complete_to)}, of some beyond.`);
  }
  return parts.join(" ");
}
