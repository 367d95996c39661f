// The dendrogram: a canvas that shows any part of the tree, and a line that cuts it.
import { h, replace } from "./dom.js";
import { count, counted, number } from "./format.js";
import { listen } from "./gestures.js";
import { itemsCell } from "./items.js";
import { geometryOf, lineOf, paint } from "./painting.js";
import { onTheme } from "./palette.js";
import { heightScale, lowHeight } from "./scales.js";
import { inWords, toolbar } from "./toolbar.js";

const FEWEST = 4; // leaves in the narrowest window
const MANY = 20_000; // clusters: labels wait until the line is let go
const ROOM = 1.05; // of the height of the uppermost merge: the upper edge
const HELP =
  "Click a branch to look into it, the strip below to select a cluster; drag the line to cut. " +
  "Wheel or + and − zoom, arrows move, Escape goes back, Home shows the whole tree.";
const HELP_FOR_FINGERS =
  "Tap a branch to read about it, and again to look into it; tap the strip below to select a cluster; drag the line to cut. " +
  "One finger moves, two zoom.";

/** The panel; `drawn` lists the nodes of the last frame. */
export function dendrogramPanel(view) {
  return new DendrogramPanel(view);
}

class DendrogramPanel {
  constructor(view) {
    const { tree, store } = view;
    Object.assign(this, { view, tree, store, drawn: [], trail: [tree.root], low: lowHeight(tree) });
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.shade = h("div", { class: "shade", hidden: true });
    this.tip = h("div", { class: "tip", hidden: true });
    const slider = { role: "slider", "aria-label": "Cut", "aria-valuemin": 1, "aria-valuemax": tree.n };
    this.line = h("div", { class: "cut-line", tabindex: 0, ...slider }, h("span"));
    const how = matchMedia("(hover: none)").matches ? HELP_FOR_FINGERS : HELP;
    const label = `Dendrogram of ${counted(tree.n, "leaf", "leaves")}. ${how}`;
    const attributes = { class: "stage", tabindex: 0, role: "group", "aria-label": label, keydown: (event) => this.key(event) };
    this.stage = h("div", attributes, this.canvas, this.shade, this.line, this.tip);
    this.spoken = h("p", { class: "spoken", "aria-live": "polite" });
    this.controls = toolbar(view, {
      zoom: (factor) => this.zoom(factor),
      up: () => this.open(Math.max(tree.parent[store.state.root], store.state.root)),
      open: (v) => this.open(v),
    });
    const help = h("p", { class: "help" }, how);
    const parts = [this.controls.element, this.stage, this.spoken, help];
    this.element = h("section", { class: "panel tree", "aria-label": "Dendrogram" }, parts);
    listen(this.stage, this.line, this);
    new ResizeObserver(() => this.draw()).observe(this.stage);
    onTheme(() => this.draw());
  }

  update(state, changed) {
    if (changed.has("side")) this.stage.classList.toggle("sideways", state.side === "left");
    if (changed.has("root")) {
      this.trail = [...this.trail.filter((v) => v !== state.root && this.tree.isWithin(state.root, v)), state.root];
      this.controls.follow(this.trail);
    }
    if (changed.has("cut")) {
      clearTimeout(this.speaking);
      this.speaking = setTimeout(() => (this.spoken.textContent = inWords(this.view)), 600);
    }
    this.controls.update(state);
    if (["root", "from", "to"].some((key) => changed.has(key))) this.#turn();
    this.draw();
  }

  // -- windows: {root, from, to: drawing positions, top: height at the upper edge}

  /** Turns to the window of the state: at once where a pointer moves the leaves, else gliding. Heights always glide. */
  #turn() {
    const { tree, shown } = this, { root, from, to } = this.store.state;
    const at = (share) => tree.first[root] + share * tree.count[root];
    const first = Math.floor(at(from)), last = Math.max(first, Math.ceil(at(to)) - 1);
    const inner = tree.lca(tree.leaf[first], tree.leaf[last]); // heights reach up to the branch that holds all leaves shown
    const goal = (this.goal = { root, from: at(from), to: at(to), top: (tree.top[inner] || tree.top[root] || 1) * ROOM });
    this.hover(null);
    if (!shown || matchMedia("(prefers-reduced-motion: reduce)").matches) this.shown = goal;
    else if (shown.root === root && !this.smooth) this.shown = { ...goal, top: shown.top };
    this.smooth = false;
    if (this.shown !== goal && !this.gliding) this.#glide();
  }

  #glide() {
    const { shown, goal } = this;
    const between = (key) => shown[key] + (goal[key] - shown[key]) * 0.3;
    const wide = goal.to - goal.from, moves = Math.abs(goal.from - shown.from) + Math.abs(goal.to - shown.to);
    this.gliding = moves / wide + Math.abs(goal.top / shown.top - 1) > 0.003;
    const root = this.tree.lca(shown.root, goal.root);
    this.shown = this.gliding ? { root, from: between("from"), to: between("to"), top: between("top") } : goal;
    this.draw();
    if (this.gliding) requestAnimationFrame(() => this.#glide());
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.stage, { scale, side } = this.store.state;
    if (!this.shown || !width) return;
    const hurried = this.dragged !== undefined && this.view.partition().k > MANY;
    const frame = { ...this.shown, side, width, height, hurried, scale: heightScale(scale, this.shown.top, this.low) };
    this.geometry = geometryOf(frame);
    this.drawn = paint(this.canvas, this.view, this.geometry, frame);
    this.#placeLine();
  }

  // -- moving about

  open(v) {
    if (!this.tree.isLeaf(v)) this.store.set({ root: v, from: 0, to: 1 });
  }

  /** Shows `factor` times as many leaves around a point, or around the middle; returns whether that changed anything. */
  zoom(factor, point) {
    const { root, from, to } = this.store.state, leaves = this.tree.count[root];
    const width = Math.min(1, Math.max((to - from) * factor, Math.min(1, FEWEST / leaves)));
    const at = point ? (this.geometry.at(point).position - this.tree.first[root]) / leaves : (from + to) / 2;
    return this.#show(at - ((at - from) / (to - from)) * width, width, !point);
  }

  /** Moves the leaves by pixels. */
  pan({ x, y }) {
    const { root, from, to } = this.store.state, { upright, perLeaf } = this.geometry;
    return this.#show(from - (upright ? x : y) / perLeaf / this.tree.count[root], to - from);
  }

  #show(from, width, smooth) {
    const { state } = this.store, begin = Math.min(Math.max(0, from), 1 - width), end = Math.min(1, begin + width);
    if (Math.abs(begin - state.from) + Math.abs(end - state.to) < 1e-12) return false;
    this.smooth = smooth;
    this.store.set({ from: begin, to: end });
    return true;
  }

  // -- pointing

  /** The branch at a point: what a cut at that height would leave of the tree there. Below the leaves: the cluster. */
  nodeAt(point) {
    const { tree, geometry, shown } = this, { position, t } = geometry.at(point);
    if (position < geometry.from || position >= geometry.to) return { node: -1 };
    const leaf = tree.leaf[Math.floor(position)], height = geometry.scale.height(t);
    if (t < 0) return { node: this.view.partition().topOf(leaf), strip: true };
    if (tree.top[shown.root] <= height) return { node: shown.root };
    return { node: tree.paths.highest(leaf, (v) => tree.top[v] <= height || tree.count[v] < geometry.least) };
  }

  hover(point) {
    const { tree, geometry, shade, tip, stage } = this;
    const node = (this.hovered = point ? this.nodeAt(point).node : -1);
    shade.hidden = tip.hidden = node < 0;
    if (node < 0) return;
    const a = geometry.along(tree.first[node]), d = Math.min(geometry.base - 2, geometry.depth(geometry.scale.of(tree.height[node])));
    const boxes = [a, d, Math.max(2, geometry.along(tree.first[node] + tree.count[node]) - a), geometry.base - d];
    const [left, top, width, height] = geometry.upright ? boxes : [boxes[1], boxes[0], boxes[3], boxes[2]];
    place(shade, { left, top, width, height });
    replace(tip, describe(this.view, node));
    const onRight = point.x > stage.clientWidth / 2, beside = point.x + (onRight ? -14 - tip.offsetWidth : 14);
    const [rightmost, lowest] = [stage.clientWidth - tip.offsetWidth, stage.clientHeight - tip.offsetHeight];
    place(tip, { left: Math.max(0, Math.min(beside, rightmost)), top: Math.min(point.y + 14, lowest) });
  }

  click(point, { pointerType, shiftKey }) {
    const { node, strip } = this.nodeAt(point), { selected, compared } = this.store.state, seen = this.hovered;
    if (node < 0) return;
    if (pointerType !== "mouse") this.hover(point);
    const cluster = this.view.partition().topOf(node);
    const other = (present) => (present === cluster || cluster < 0 ? null : cluster);
    if (shiftKey) this.store.set({ compared: other(compared) });
    else if (strip || this.tree.isLeaf(node)) this.store.set({ selected: other(selected) });
    else if (pointerType === "mouse" || seen === node) this.open(node); // a finger asks first: it cannot hover
  }

  key(event) {
    const { selected, root, from, to, side } = this.store.state, { k } = this.view.partition();
    const step = event.shiftKey ? 10 : 1;
    const cut = (to) => this.view.cutInto(to);
    const move = (share) => this.#show(from + share * step * (to - from), to - from, true);
    const [lower, raise, back, on] = side === "top" ? ["Down", "Up", "Left", "Right"] : ["Right", "Left", "Up", "Down"];
    const act = {
      [`Arrow${lower}`]: () => cut(k + step),
      [`Arrow${raise}`]: () => cut(k - step),
      [`Arrow${back}`]: () => move(-0.1),
      [`Arrow${on}`]: () => move(0.1),
      PageDown: () => cut(2 * k),
      PageUp: () => cut(k / 2),
      "+": () => this.zoom(0.5),
      "=": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      Enter: () => this.open(selected ?? root),
      Escape: () => this.open(this.trail.at(-2) ?? this.tree.root),
      Home: () => this.open(this.tree.root),
    }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    act();
    event.preventDefault();
  }

  // -- the line

  #placeLine() {
    const { line, geometry, view } = this;
    const t = this.dragged ?? lineOf(this.tree, view.partition(), geometry.scale);
    line.hidden = !(t <= 1.01);
    line.style.transform = `translate${geometry.upright ? "Y" : "X"}(${geometry.depth(t)}px)`;
    line.firstChild.textContent = counted(view.partition().k, "cluster", "clusters");
    line.setAttribute("aria-orientation", geometry.upright ? "vertical" : "horizontal");
    line.setAttribute("aria-valuenow", view.partition().k);
    line.setAttribute("aria-valuetext", inWords(view));
  }

  /** Drags the line to a point; null lets it go. */
  drag(point) {
    this.dragged = point ? Math.min(1, Math.max(0, this.geometry.at(point).t)) : undefined;
    if (!point) return this.draw();
    this.view.cutInto(this.tree.cutOfHeight(this.geometry.scale.height(this.dragged)));
    this.#placeLine();
  }
}

function place(element, box) {
  for (const [name, value] of Object.entries(box)) element.style[name] = `${value}px`;
}

/** A branch in words, and rows that stand for it. */
function describe(view, v) {
  const { tree, partition, name, label, data: { header } } = view, inner = !tree.isLeaf(v);
  const title = [name(v), partition().has(v) && `Cluster ${label(v)}`].filter(Boolean).join(", ");
  const facts = [
    header.weighted ? `weight ${count(tree.weight[v])}` : counted(tree.weight[v], "row", "rows"),
    inner && tree.weight[v] !== tree.count[v] && counted(tree.count[v], "leaf", "leaves"),
    inner && `height ${number(tree.height[v])}`,
    tree.sse && tree.weight[v] > 1 && `rmsd ${number(tree.rmsd(v))}`,
  ];
  const items = header.representatives && itemsCell(view, v, "div");
  return [h("b", {}, title || (inner ? "Branch" : `Leaf ${v}`)), facts.filter(Boolean).map((fact) => h("span", {}, fact)), items];
}
