// The controls above the dendrogram: the cut, the scale of heights, the direction, zoom, and the trail to the present root.
import { h, replace } from "./dom.js";
import { count, counted, number, percent } from "./format.js";

const STEPS = 1000; // of the slider
const SCALE_NAMES = [["linear", "linear"], ["sqrt", "square root"], ["log", "logarithmic"]];
const SIDE_NAMES = [["top", "root at the top"], ["left", "root at the left"]];

/**
 * The controls.
 * @param {object} view
 * @param {{zoom: function(number), up: function(), open: function(number)}} actions
 * @returns {{element: HTMLElement, update: function(object), follow: function(number[])}}
 */
export function toolbar(view, { zoom, up, open }) {
  const { store, tree, data } = view;
  const entered = { input: () => field.value && view.cutInto(+field.value), change: () => update(store.state) };
  const field = h("input", { type: "number", min: 1, max: tree.n, "aria-label": "Number of clusters", ...entered });
  const slider = h("input", { type: "range", max: STEPS, "aria-label": "Number of clusters, logarithmic", input: slide });
  const kinds = [["", "at one level"], ...data.header.adaptive.map(({ label }, i) => [i, label])];
  const kind = select("Kind of cut", kinds, (i) => (i ? store.set({ cut: { adaptive: +i } }) : view.cutInto(view.partition().k)));
  const scale = select("Scale of heights", SCALE_NAMES, (scale) => store.set({ scale }));
  const side = select("Direction", SIDE_NAMES, (side) => store.set({ side }));
  const found = h("output");
  const trail = h("nav", { class: "trail", "aria-label": "From the whole tree to the branch shown" });
  const buttons = [
    tool("−", "Zoom out", () => zoom(2)),
    tool("+", "Zoom in", () => zoom(0.5)),
    tool("↑", "Up to the parent branch", up),
    tool("Whole tree", "Show the whole tree", () => open(tree.root)),
  ];
  const element = h("div", { class: "controls" },
    h("div", { class: "tools" }, h("label", {}, field, " clusters"), slider, kinds.length > 1 && h("label", {}, "cut ", kind), found),
    h("div", { class: "tools" }, h("label", {}, "heights ", scale), side, h("span", { class: "buttons" }, buttons), trail));

  /** Where a number of clusters lies on the slider. */
  function stepOf(k) {
    return Math.round((STEPS * Math.log(k)) / (Math.log(tree.n) || 1));
  }

  /** A step that is too short for another number moves by one. */
  function slide() {
    const { k } = view.partition(), next = Math.round(tree.n ** (slider.value / STEPS));
    view.cutInto(next === k ? k + Math.sign(slider.value - stepOf(k)) : next);
  }

  function update(state) {
    const { k } = view.partition();
    if (+field.value !== k) field.value = k;
    slider.value = stepOf(k);
    kind.value = state.cut.adaptive ?? "";
    scale.value = state.scale;
    side.value = state.side;
    found.textContent = quality(view).join(", ");
  }

  /** Shows the branches that led to the present root. */
  function follow(nodes) {
    replace(trail, nodes.length > 1 && nodes.map((v, i) => {
      const text = view.name(v) ?? (i ? counted(tree.count[v], "leaf", "leaves") : `all ${count(tree.n)} leaves`);
      return [i > 0 && " › ", i === nodes.length - 1 ? text : tool(text, null, () => open(v))];
    }));
  }
  return { element, update, follow };
}

function tool(text, label, click) {
  return h("button", { type: "button", "aria-label": label, title: label, click }, text);
}

function select(label, choices, chosen) {
  const options = choices.map(([value, text]) => h("option", { value }, text));
  return h("select", { "aria-label": label, change: (event) => chosen(event.target.value) }, options);
}

function quality({ tree, partition }) {
  const cut = partition(), total = tree.rmsdAt(1);
  return [
    cut.noiseWeight > 0 && `${percent(cut.noiseWeight / tree.weight[tree.root])} noise`,
    tree.sse && `rmsd ${number(cut.rmsd)}`,
    total > 0 && !cut.noiseWeight && `${percent(1 - (cut.rmsd / total) ** 2)} of the variance explained`,
  ].filter(Boolean);
}

/** The present cut: "12 clusters, rmsd 0.42, 71.3 % of the variance explained". */
export function inWords(view) {
  return [counted(view.partition().k, "cluster", "clusters"), ...quality(view)].join(", ");
}
