// The controls above the dendrogram: the cut, the scale of heights, the direction, zoom, and the trail to the present root.
import { h, replace } from "./dom.js";
import { count, counted, number, percent } from "./format.js";

const STEPS = 1000;

/**
 * The controls.
 * @param {object} view
 * @param {{zoom: function(number), up: function(), reset: function(), open: function(number)}} actions
 * @returns {{element: HTMLElement, update: function(object)}}
 */
export function toolbar(view, actions) {
  const { store, tree, data } = view;
  const { n } = tree;
  const setK = (k) => Number.isFinite(k) && store.set({ cut: { k: Math.min(Math.max(1, Math.round(k)), n) } });
  const field = h("input", { type: "number", min: 1, max: n, step: 1, inputmode: "numeric", "aria-label": "Number of clusters", input: () => field.value && setK(+field.value), change: () => update(store.state) });
  const slider = h("input", { type: "range", min: 0, max: STEPS, "aria-label": "Number of clusters, on a logarithmic scale", input: () => slide() });
  const slide = () => {
    const before = stepOf(view.partition().k, n), now = +slider.value;
    const k = Math.round(n ** (now / STEPS));
    setK(k === view.partition().k ? k + Math.sign(now - before) : k);
  };
  const choices = [["", "by level"], ...(data.header.adaptive ?? []).map(({ label }, i) => [i, label])];
  const kind = select("Kind of cut", choices, (value) => (value === "" ? setK(view.partition().k) : store.set({ cut: { adaptive: +value } })));
  const scale = select("Scale of heights", [["linear", "linear"], ["sqrt", "square root"], ["log", "logarithmic"]], (value) => store.set({ scale: value }));
  const side = select("Root", [["top", "root at the top"], ["left", "root at the left"]], (value) => store.set({ side: value }));
  const found = h("output", { class: "found" });
  const trail = h("nav", { class: "trail", "aria-label": "From the whole tree to the branch shown" });
  const element = h(
    "div",
    { class: "controls" },
    h("div", { class: "tools" },
      h("label", {}, field, " clusters"), slider, choices.length > 1 && h("label", {}, "cut ", kind), found),
    h("div", { class: "tools" },
      h("label", {}, "heights ", scale), side,
      h("span", { class: "buttons" },
        tool("−", "Zoom out", () => actions.zoom(2)), tool("+", "Zoom in", () => actions.zoom(0.5)),
        tool("↑", "Up to the parent branch", actions.up), tool("Whole tree", "Show the whole tree", actions.reset)),
      trail),
  );

  function update(state) {
    const cut = view.partition();
    if (document.activeElement !== field || +field.value !== cut.k) field.value = cut.k;
    if (+slider.value !== stepOf(cut.k, n)) slider.value = stepOf(cut.k, n);
    kind.value = state.cut.adaptive ?? "";
    scale.value = state.scale;
    side.value = state.side;
    found.textContent = summary(view);
  }

  /** Shows the branches that led to the present root. */
  function follow(nodes) {
    replace(trail, nodes.length > 1 && nodes.map((v, i) => {
      const text = view.name(v) ?? (i ? counted(tree.count[v], "leaf", "leaves") : `all ${count(n)} leaves`);
      const last = i === nodes.length - 1;
      return [i > 0 && " › ", last ? h("span", { "aria-current": "true" }, text) : h("button", { type: "button", click: () => actions.open(v) }, text)];
    }));
  }
  return { element, update, follow };
}

function tool(text, label, act) {
  return h("button", { type: "button", "aria-label": label, title: label, click: act }, text);
}

function select(label, choices, chosen) {
  const element = h("select", { "aria-label": label, change: () => chosen(element.value) }, choices.map(([value, text]) => h("option", { value }, text)));
  return element;
}

function stepOf(k, n) {
  return n > 1 ? Math.round((STEPS * Math.log(k)) / Math.log(n)) : 0;
}

/** How good the present cut is: "rmsd 0.42, 71.3 % of the variance explained". */
export function summary({ tree, partition }) {
  const cut = partition();
  const parts = [];
  if (cut.noiseWeight > 0) parts.push(`${percent(cut.noiseWeight / tree.weight[tree.root])} noise`);
  if (cut.rmsd !== null) parts.push(`rmsd ${number(cut.rmsd)}`);
  const total = tree.rmsd(tree.root);
  if (total > 0 && !cut.noiseWeight) parts.push(`${percent(1 - (cut.rmsd / total) ** 2)} of the variance explained`);
  return parts.join(", ");
}
