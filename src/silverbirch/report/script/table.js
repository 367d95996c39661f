// The table of the clusters of the present cut.
import { h, replace } from "./dom.js";
import { columnValue, strongest } from "./effects.js";
import { count, decimalsFor, number, percent, signed } from "./format.js";
import { itemsCell } from "./items.js";
import { button, called, figure, filled, quiet, rowHead, scrolling, section, swatch, toggle, unit } from "./parts.js";

const TABLE_ROWS = 200;
const FEW_COLUMNS = 8; // with more, the table shows only those in which a cluster differs most

/** The value by which a table is sorted, the lowest first. */
const ORDERS = {
  __proto__: null, // names come from the address, too
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
  const order = ORDERS[sort.replace("-", "")], sign = sort.startsWith("-") ? -1 : 1;
  if (!order) return view.partition().largest(most);
  const keyed = view.partition().largest().map((cluster) => [order(view, cluster), cluster]);
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
  const head = h("tr"), body = h("tbody"), caption = quiet();
  const all = h("tbody", { class: "all" }, h("tr", {}, rowHead("all rows"), columns.map(([, cell]) => cell(tree.root))));
  const table = h("table", { class: "clusters", click: choose }, h("thead", {}, head), all, body);
  let shown = TABLE_ROWS;
  const more = button("", () => {
    shown += TABLE_ROWS;
    fill();
  });

  function line(node, label) {
    const { selected, compared } = store.state, chosen = node === selected;
    const pressed = { type: "button", "aria-label": `Select ${called(view, node, label)}`, "aria-pressed": `${chosen}` };
    const chooser = h("button", pressed, label);
    const kind = chosen ? "chosen" : node === compared && "compared";
    const cells = columns.map(([, cell]) => cell(node));
    return h("tr", { "data-node": node, class: kind }, rowHead(swatch(view, node), chooser), cells);
  }

  function fill() {
    const { sort } = store.state, { k } = view.partition();
    const focused = table.getRootNode().activeElement?.closest("tr")?.dataset.node;
    const clusters = firstClusters(view, sort, shown);
    const present = sort.replace("-", "") || "label", direction = sort.startsWith("-") ? "descending" : "ascending";
    replace(head, [["cluster", null, "", "label"], ...columns].map(([name, , kind, order]) => {
      const attributes = { scope: "col", class: kind, "aria-sort": order === present && direction };
      return h("th", attributes, order ? button(name, () => sortBy(order)) : h("bdi", {}, name));
    }));
    replace(body, clusters.map(({ node, label }) => line(node, label)));
    table.style.setProperty("--heaviest", tree.weight[view.partition().largest(1)[0]?.node]);
    more.hidden = clusters.length >= k;
    more.textContent = `Show more of ${count(k)} clusters`;
    caption.textContent = tableCaption(view);
    if (focused) table.querySelector(`[data-node="${focused}"] button`)?.focus({ preventScroll: true });
  }

  function sortBy(name) {
    store.set({ sort: (store.state.sort || "label") === name ? `-${name}` : name });
  }

  /** Selects the cluster of a row; with Shift, compares it with the one selected before. */
  function choose(event) {
    const row = event.target.closest("tr[data-node]"), node = Number(row?.dataset.node), { selected } = store.state;
    if (!row) return;
    if (event.shiftKey && selected !== null && selected !== node) store.set({ compared: node });
    else toggle(view, node);
  }

  const element = section("table", "Clusters", scrolling("Table of clusters", table), more, caption);
  return filled(element, ["cut", "sort", "selected", "compared"], fill);
}

/** The columns after the label: head, cell of a node, class, and the name of the order if the table can be sorted by it. */
function tableColumns(view) {
  const { tree } = view, { header, arrays } = view.data, { columns, embedding } = header, all = tree.weight[tree.root];
  const figures = (name, text, order) => [name, (node) => figure(text(node)), "figure", order];
  const items = header.representatives && ["representatives", (node) => itemsCell(view, node), "items"];
  const rowsOf = header.weighted && arrays.row_leaf && rowCounter(tree, arrays.row_leaf);
  const decimals = tree.sse && decimalsFor(tree.rmsd(tree.root));
  const mean = (j) => (node) => columnValue(columns[j], view.means(node)?.[j]);
  const most = ["differs most from all rows in", (node) => differences(view, node), "where"];
  const share = (node) => {
    const weight = tree.weight[node];
    return h("td", { class: "figure share", style: `--weight: ${weight}` }, percent(weight / all));
  };
  return [
    Object.keys(header.names).length > 0 && ["name", (node) => h("td", {}, h("bdi", {}, view.name(node))), "", "name"],
    embedding && items,
    rowsOf && figures("rows", (node) => count(rowsOf(node))),
    figures(unit(view), (node) => count(tree.weight[node]), "size"),
    ["share", share, "figure share", "size"],
    tree.sse && figures("rmsd", (node) => number(tree.rmsd(node), decimals), "rmsd"),
    !embedding && items,
    ...(embedding ? [] : columns.length > FEW_COLUMNS ? [most] : columns.map(({ name }, j) => figures(name, mean(j)))),
  ].filter(Boolean);
}

function differences(view, node) {
  const { columns } = view.data.header, z = view.means(node);
  const found = strongest(z ?? []).map(({ column, effect }) => {
    const value = h("b", {}, columnValue(columns[column], effect));
    return h("span", {}, h("bdi", {}, columns[column].name), " ", value, " ", h("small", {}, `(${signed(effect, 2)} s.d.)`));
  });
  return h("td", { class: "where" }, z ? found : h("small", {}, "not in this page"));
}

function tableCaption(view) {
  const { facts, units, embedding, columns } = view.data.header, { k, noiseWeight } = view.partition();
  const noise = noiseWeight > 0 ? `${percent(noiseWeight / view.tree.weight[view.tree.root])} are noise, in no cluster. ` : "";
  if (embedding || !columns.length) return noise;
  const end = `This page has the means of every cluster up to k = ${count(facts.complete_to)}, and of some beyond.`;
  return `${noise}${units} ${k > facts.complete_to ? end : ""}`;
}
