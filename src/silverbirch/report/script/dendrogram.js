// The dendrogram: a canvas that shows any part of the tree, and a line that cuts it.
import { h, replace } from "./dom.js";
import { counted, number } from "./format.js";
import { listen } from "./gestures.js";
import { geometryOf, lineOf, paint } from "./painting.js";
import { onTheme } from "./palette.js";
import { heightScale, lowHeight } from "./scales.js";
import { summary, toolbar } from "./toolbar.js";

const GLIDE = 240; // milliseconds from one window to another
const FEWEST = 4; // leaves in the narrowest window
const ROOM = 1.05; // of the height of the root: the upper edge
const HELP =
  "Click a branch to look into it, the strip below to select a cluster; drag the line to cut. Wheel or + and − zoom, " +
  "arrows move, Escape goes back, Home shows the whole tree.";

/** The panel; `drawn` lists the nodes of the last frame. */
export function dendrogramPanel(view) {
  return new DendrogramPanel(view);
}

class DendrogramPanel {
  constructor(view) {
    const { tree, store } = view;
    Object.assign(this, { view, tree, store, drawn: [], trail: [tree.root], low: lowHeight(tree), letters: longestName(view) });
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.shade = h("div", { class: "shade", hidden: true });
    this.tip = h("div", { class: "tip", hidden: true });
    this.line = h("div", { class: "cut-line", role: "slider", tabindex: 0, "aria-label": "Cut", "aria-valuemin": 1, "aria-valuemax": tree.n }, h("span"));
    this.stage = h("div", { class: "stage", tabindex: 0, role: "group", "aria-label": `Dendrogram of ${counted(tree.n, "leaf", "leaves")}. ${HELP}` }, this.canvas, this.shade, this.line, this.tip);
    this.spoken = h("p", { class: "spoken", "aria-live": "polite" });
    this.controls = toolbar(view, {
      zoom: (factor) => this.zoom(factor, null, true),
      up: () => this.open(Math.max(tree.parent[store.state.root], store.state.root)),
      reset: () => this.open(tree.root),
      open: (v) => this.open(v),
    });
    this.element = h("section", { class: "panel tree", "aria-label": "Dendrogram" }, this.controls.element, this.stage, this.spoken, h("p", { class: "help" }, HELP));
    listen(this.stage, {
      zoom: (factor, point) => this.zoom(factor, point),
      pan: (dx, dy) => this.pan(dx, dy),
      hover: (point) => this.hover(point && this.nodeAt(point), point),
      click: (point, event) => this.click(point, event),
    });
    this.stage.addEventListener("keydown", (event) => this.key(event));
    this.#listenToLine();
    new ResizeObserver(() => this.shown && this.draw()).observe(this.stage);
    onTheme(() => this.draw());
  }

  update(state, changed) {
    if (changed.has("side")) this.stage.classList.toggle("sideways", state.side === "left");
    if (changed.has("root")) {
      this.trail = [...this.trail.filter((v) => v !== state.root && this.tree.isWithin(state.root, v)), state.root];
      this.controls.follow(this.trail);
    }
    if (changed.has("cut")) this.#speak();
    this.controls.update(state);
    if (["root", "from", "to"].some((key) => changed.has(key))) this.hover(null);
    this.#turnTo(this.#goal());
    this.draw();
  }

  // -- windows: {root, from, to: drawing positions, top: height at the upper edge}

  /** The window of the state; heights reach up to the branch that holds all its leaves. */
  #goal() {
    const { tree } = this;
    const { root, from, to } = this.store.state;
    const at = (share) => tree.first[root] + share * tree.count[root];
    const inner = tree.lca(tree.leaf[Math.floor(at(from))], tree.leaf[Math.max(Math.floor(at(from)), Math.ceil(at(to)) - 1)]);
    return { root, from: at(from), to: at(to), top: (tree.top[inner] || tree.top[root] || 1) * ROOM };
  }

  /** Goes to a window: at once where a pointer moves the leaves, else gliding. Heights always glide. */
  #turnTo(goal) {
    const { shown, glide } = this;
    const far = this.smooth || (shown && (glide?.goal ?? shown).root !== goal.root);
    this.smooth = false;
    if (!shown || matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.shown = goal;
      this.glide = null;
    } else if (far || (glide?.goal ?? shown).top !== goal.top) {
      this.glide = { from: far ? shown : { ...goal, top: shown.top }, goal, start: performance.now() };
      if (!glide) requestAnimationFrame(() => this.#step());
    } else if (!glide) this.shown = goal;
    else Object.assign(glide, { goal, from: { ...goal, top: glide.from.top } });
    if (this.glide && !far) this.shown = { ...goal, top: shown.top };
  }

  #step() {
    if (!this.glide) return;
    const { from, goal, start } = this.glide;
    const share = Math.min(1, (performance.now() - start) / GLIDE);
    const eased = share * share * (3 - 2 * share);
    const between = (a, b) => a + (b - a) * eased;
    if (share < 1) {
      const root = this.tree.lca(from.root, goal.root);
      this.shown = { root, from: between(from.from, goal.from), to: between(from.to, goal.to), top: from.top * (goal.top / from.top) ** eased };
      requestAnimationFrame(() => this.#step());
    } else {
      this.shown = goal;
      this.glide = null;
    }
    this.draw();
  }

  frame() {
    const { scale, side } = this.store.state;
    return { ...this.shown, side, letters: this.letters, width: this.stage.clientWidth, height: this.stage.clientHeight, scale: heightScale(scale, this.shown.top, this.low) };
  }

  draw() {
    const frame = this.frame();
    if (!frame.width || !frame.height) return;
    this.geometry = geometryOf(frame);
    this.drawn = paint(this.canvas, this.view, frame);
    this.#placeLine();
  }

  // -- moving about

  open(v) {
    if (!this.tree.isLeaf(v)) this.store.set({ root: v, from: 0, to: 1 });
    this.hover(null);
  }

  /** Shows `factor` times as many leaves around a point; returns whether that changed anything. */
  zoom(factor, point, smooth = false) {
    const { root, from, to } = this.store.state;
    const leaves = this.tree.count[root];
    const width = Math.min(1, Math.max((to - from) * factor, Math.min(1, FEWEST / leaves)));
    const at = point ? (this.geometry.at(point.x, point.y).position - this.tree.first[root]) / leaves : (from + to) / 2;
    const before = Math.min(1, Math.max(0, (at - from) / (to - from)));
    return this.#show(at - before * width, width, smooth);
  }

  /** Moves the leaves by pixels. */
  pan(dx, dy, smooth = false) {
    const { root, from, to } = this.store.state;
    const shift = (this.geometry.upright ? dx : dy) / this.geometry.perLeaf / this.tree.count[root];
    return this.#show(from - shift, to - from, smooth);
  }

  #show(from, width, smooth) {
    const { state } = this.store;
    from = Math.min(Math.max(0, from), 1 - width);
    const to = Math.min(1, from + width);
    if (Math.abs(from - state.from) + Math.abs(to - state.to) < 1e-12) return false;
    this.smooth = smooth;
    this.store.set({ from, to });
    return true;
  }

  /** The branch at a point: what a cut at that height would leave of the tree there. Below the leaves: the cluster. */
  nodeAt({ x, y }) {
    const { tree, geometry } = this;
    const { position, t } = geometry.at(x, y);
    if (position < geometry.from || position >= geometry.to) return null;
    const leaf = tree.leaf[Math.floor(position)];
    if (t < 0) return { node: this.view.partition().topOf(leaf), strip: true };
    const height = geometry.scale.height(t);
    const { root } = this.shown;
    if (tree.top[root] <= height) return { node: root };
    return { node: tree.paths.highest(leaf, (v) => v !== root && (tree.top[v] <= height || tree.count[v] < geometry.least)) };
  }

  hover(found, point) {
    const node = found && found.node >= 0 ? found.node : null;
    this.hovered = node;
    this.shade.hidden = this.tip.hidden = node === null;
    if (node === null) return;
    const { first, count: leaves, height } = this.tree;
    const { geometry } = this;
    const [left, top, width, high] = geometry.box(first[node], first[node] + leaves[node], geometry.depth(geometry.scale.of(height[node])), geometry.base);
    Object.assign(this.shade.style, { left: `${left}px`, top: `${top}px`, width: `${Math.max(2, width)}px`, height: `${Math.max(2, high)}px` });
    replace(this.tip, describe(this.view, node));
    const right = point.x > this.stage.clientWidth / 2;
    Object.assign(this.tip.style, {
      left: right ? "auto" : `${point.x + 14}px`,
      right: right ? `${this.stage.clientWidth - point.x + 14}px` : "auto",
      top: `${Math.min(point.y + 14, this.stage.clientHeight - this.tip.offsetHeight)}px`,
    });
  }

  click(point, event) {
    const found = this.nodeAt(point);
    if (!found || found.node < 0) return;
    const seen = this.hovered;
    if (event.pointerType !== "mouse") this.hover(found, point);
    const cluster = this.view.partition().topOf(found.node);
    const { selected, compared } = this.store.state;
    if (event.shiftKey) this.store.set({ compared: compared === cluster || cluster < 0 ? null : cluster });
    else if (found.strip || this.tree.isLeaf(found.node)) this.store.set({ selected: selected === cluster || cluster < 0 ? null : cluster });
    else if (event.pointerType === "mouse" || seen === found.node) this.open(found.node); // a finger asks first: it cannot hover
  }

  key(event) {
    const { upright, length } = this.geometry;
    const step = event.shiftKey ? 10 : 1;
    const k = this.view.partition().k;
    const cut = (to) => this.store.set({ cut: { k: Math.min(Math.max(1, to), this.tree.n) } });
    const move = (share) => this.pan(share * length * step, share * length * step, true);
    const [lower, raise, back, on] = upright ? ["Down", "Up", "Left", "Right"] : ["Right", "Left", "Up", "Down"];
    const act = {
      [`Arrow${lower}`]: () => cut(k + step),
      [`Arrow${raise}`]: () => cut(k - step),
      [`Arrow${back}`]: () => move(0.1),
      [`Arrow${on}`]: () => move(-0.1),
      PageDown: () => cut(2 * k),
      PageUp: () => cut(k >> 1),
      "+": () => this.zoom(0.5, null, true),
      "=": () => this.zoom(0.5, null, true),
      "-": () => this.zoom(2, null, true),
      Enter: () => this.open(this.store.state.selected ?? this.store.state.root),
      Escape: () => this.open(this.trail.at(-2) ?? this.tree.root),
      Home: () => this.open(this.tree.root),
    }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    act();
    event.preventDefault();
  }

  // -- the line

  #placeLine() {
    const { line, geometry, dragged } = this;
    const cut = this.view.partition();
    const { k } = cut;
    const t = dragged ?? lineOf(this.tree, cut, geometry.scale);
    line.hidden = !(t <= 1.01);
    const d = geometry.depth(t);
    line.style.transform = geometry.upright ? `translateY(${d}px)` : `translateX(${d}px)`;
    line.firstChild.textContent = counted(k, "cluster", "clusters");
    line.setAttribute("aria-valuenow", k);
    line.setAttribute("aria-valuetext", `${counted(k, "cluster", "clusters")}, ${summary(this.view)}`);
  }

  #listenToLine() {
    const { line, store, tree } = this;
    const drag = (event) => {
      const box = this.stage.getBoundingClientRect();
      const { t } = this.geometry.at(event.clientX - box.left, event.clientY - box.top);
      this.dragged = Math.min(1, Math.max(0, t));
      store.set({ cut: { k: tree.cutOfHeight(this.geometry.scale.height(this.dragged)) } });
      this.#placeLine();
    };
    line.addEventListener("pointerdown", (event) => {
      line.setPointerCapture(event.pointerId);
      this.hover(null);
      drag(event);
    });
    line.addEventListener("pointermove", (event) => (this.dragged === undefined ? event.stopPropagation() : drag(event)));
    for (const name of ["pointerup", "pointercancel"]) {
      line.addEventListener(name, () => {
        this.dragged = undefined;
        this.#placeLine();
      });
    }
  }

  #speak() {
    clearTimeout(this.speaking);
    this.speaking = setTimeout(() => {
      this.spoken.textContent = `${counted(this.view.partition().k, "cluster", "clusters")}, ${summary(this.view)}`;
    }, 600);
  }
}

/** The number of letters of the longest name of a leaf. */
function longestName({ data, tree }) {
  let longest = String(tree.n - 1).length;
  for (const [node, { length }] of Object.entries(data.header.names ?? {})) if (node < tree.n && length > longest) longest = length;
  return longest;
}

/** A branch in words. */
function describe({ tree, partition, name, label }, v) {
  const cluster = partition().has(v) ? `Cluster ${label(v)}` : null;
  const facts = [
    counted(tree.weight[v], "row", "rows"),
    !tree.isLeaf(v) && tree.weight[v] !== tree.count[v] && counted(tree.count[v], "leaf", "leaves"),
    !tree.isLeaf(v) && `height ${number(tree.height[v])}`,
    tree.sse && tree.weight[v] > 1 && `rmsd ${number(tree.rmsd(v))}`,
  ];
  const title = [name(v), cluster].filter(Boolean).join(" · ");
  return [h("b", {}, title || (tree.isLeaf(v) ? `Leaf ${v}` : "Branch")), facts.filter(Boolean).map((fact) => h("span", {}, fact))];
}
