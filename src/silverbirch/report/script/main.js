// Opens the page: unpacks the data, makes the view that all panels share, and lays the panels out.
import { comparePanel } from "./compare.js";
import { curvePanel } from "./curve.js";
import { partition } from "./cuts.js";
import { dendrogramPanel } from "./dendrogram.js";
import { exportsPanel } from "./exports.js";
import { heatmapPanel } from "./heatmap.js";
import { fittingScale } from "./scales.js";
import { scatterPanel } from "./scatter.js";
import { searchPanel } from "./search.js";
import { createStore, fromHash, toHash } from "./store.js";
import { tablePanel } from "./table.js";
import { Tree } from "./tree.js";
import { unpack } from "./unpack.js";

/** Functions that take the view and return {element, update(state, changed)}, in the order of the page; null without data. */
const PANELS = { dendrogramPanel, searchPanel, curvePanel, scatterPanel, comparePanel, heatmapPanel, tablePanel, exportsPanel };

/**
 * Fills an element with the explorer.
 * @param {HTMLElement} element
 * @param {string} base64 what report/packing.py packed
 * @param {{hash?: boolean}} [options] hash: whether the state is kept in the address
 */
export async function start(element, base64, { hash = false } = {}) {
  const view = createView(await unpack(base64));
  const { store, limits } = view;
  if (hash) store.set(fromHash(location.hash, limits));
  store.flush();
  element.classList.add("explorer");
  view.panels = Object.fromEntries(Object.entries(PANELS).map(([name, panel]) => [name, panel(view)]));
  const panels = Object.values(view.panels).filter(Boolean);
  element.replaceChildren(...panels.map((panel) => panel.element));
  const everything = new Set(Object.keys(store.state));
  for (const panel of panels) panel.update(store.state, everything);
  store.subscribe((state, changed) => {
    for (const panel of panels) panel.update(state, changed);
  });
  if (hash) keepInAddress(view);
  return view;
}

/**
 * What the panels share.
 * @param {{header: object, arrays: object}} data
 */
export function createView(data) {
  const { header, arrays } = data;
  const tree = new Tree(header, arrays);
  const adaptive = header.adaptive.map(({ array }) => arrays[array]);
  const initial = {
    cut: header.cut ?? { k: Math.min(tree.n, header.suggestion?.k ?? 10) },
    root: tree.root,
    from: 0,
    to: 1,
    scale: fittingScale(tree),
    side: "top",
    selected: null,
    compared: null,
    sort: "",
    query: "",
  };
  const store = createStore(initial);
  let known = { cut: null, partition: null };
  const view = {
    data,
    tree,
    store,
    initial,
    limits: { n: tree.n, adaptive: adaptive.length },
    /** The clusters of the present cut. */
    partition() {
      const { cut } = store.state;
      if (known.cut !== cut) known = { cut, partition: partition(tree, cut, adaptive) };
      return known.partition;
    },
    /** Cuts at one level into k clusters, or as many as there can be. */
    cutInto: (k) => store.set({ cut: { k: Math.min(Math.max(1, Math.round(k) || 1), tree.n) } }),
    /** The name of a node; of a leaf without one, the text of the row that stands for it. */
    name: (node) => header.names[node] ?? header.texts?.[0][arrays.leaf_row ? arrays.leaf_row[node] : node] ?? null,
    label: (node) => view.partition().labelOf(node),
    means: meansOf(tree, header, arrays),
    representatives: representativesOf(header),
  };
  return view;
}

/** Standardised means by node, 0 for all rows; undefined where the page has none. */
function meansOf({ root }, { columns: { length: width } }, { fact_node: nodes, fact_z: z }) {
  const starts = new Map(), ofAll = new Float32Array(width);
  nodes?.forEach((node, i) => starts.set(node, i * width));
  return (node) => {
    const start = starts.get(node);
    return node === root ? ofAll : start === undefined ? undefined : z.subarray(start, start + width);
  };
}

/** Representatives by node: [{values, row}], one value for each column of header.representatives. */
function representativesOf({ representatives: known }) {
  return (node) => (known?.of[node] ?? []).map((i) => ({ values: known.items[i], row: known.rows?.[i] ?? null }));
}

/**
 * Writes the state into the address, at most three times a second, and follows a link into the same page. Another branch as
 * the root is a step of the history, so that the browser's Back leads to the one before.
 */
function keepInAddress({ store, initial, limits }) {
  let timer = 0, { root } = store.state;
  store.subscribe(() => {
    timer ||= setTimeout(() => {
      timer = 0;
      const text = toHash(store.state, initial), address = text ? `#${text}` : location.pathname + location.search;
      if (root === store.state.root) history.replaceState(null, "", address);
      else history.pushState(null, "", address);
      root = store.state.root;
    }, 333);
  });
  addEventListener("hashchange", () => {
    store.set({ ...initial, ...fromHash(location.hash, limits) });
    root = store.state.root;
  });
}
