// What several panels share.
import { h } from "./dom.js";
import { count } from "./format.js";
import { colourVariable } from "./palette.js";

/**
 * A part of the page under a heading.
 * @param {string} name the class
 * @param {string} title
 * @param {...(Node|string|null|Array)} children
 */
export function section(name, title, ...children) {
  return h("section", { class: `panel ${name}`, "aria-label": title }, h("h2", {}, title), children);
}

/** A button with a text. */
export function button(text, click) {
  return h("button", { type: "button", click }, text);
}

/** A box for a wide table, which scrolls by itself so that the page does not. */
export function scrolling(name, ...children) {
  return h("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": name }, children);
}

/** A sentence in a quiet tone. */
export function quiet(...children) {
  return h("p", { class: "quiet" }, children);
}

/** The head of a row of a table. */
export function rowHead(...children) {
  return h("th", { scope: "row" }, children);
}

/** A cell with a number. */
export function figure(text) {
  return h("td", { class: "figure" }, text);
}

/** A disc in the colour of a branch: that of its cluster; grey if it is in none or has several. */
export function swatch(view, node) {
  const cut = view.partition(), top = cut.topOf(node);
  return h("i", { class: "swatch", style: `background: ${colourVariable(top < 0 ? undefined : cut.colourOf(top))}` });
}

/** What a branch is called: "cluster 3", "leaf 17" or "branch of 12 leaves", and its name. */
export function called(view, node, label = view.label(node)) {
  const { tree } = view;
  const other = tree.isLeaf(node) ? `leaf ${node}` : `branch of ${count(tree.count[node])} leaves`;
  const name = view.name(node);
  return (label < 0 ? other : `cluster ${label}`) + (name ? `, ${name}` : "");
}

/** What a weight counts. */
export function unit(view) {
  return view.data.header.weighted ? "weight" : "rows";
}

/** Selects a branch, or releases the one that is selected already. */
export function toggle({ store }, node) {
  store.set({ selected: store.state.selected === node ? null : node });
}

/**
 * A panel that is filled again when one of these keys of the state changes: some times a second where it can be seen, else
 * after the last change, so that others can follow a drag.
 * @param {HTMLElement} element
 * @param {string[]} keys
 * @param {function()} fill
 * @param {function()} [soon] what fills it while it can be seen
 */
export function filled(element, keys, fill, soon = throttled(fill, 100)) {
  let seen = true, waiting = 0;
  new IntersectionObserver((entries) => (seen = entries.at(-1).isIntersecting)).observe(element);
  const update = () => {
    clearTimeout(waiting);
    if (seen) soon();
    else waiting = setTimeout(fill, 120); // out of sight: when the drag has come to rest
  };
  return { element, update: (state, changed) => keys.some((key) => changed.has(key)) && update() };
}

/** Calls `work` after each request, but not more often than every so many milliseconds, or ten times as long as it takes. */
export function throttled(work, milliseconds) {
  let timer = 0, next = 0;
  return () => {
    timer ||= setTimeout(() => {
      timer = 0;
      const start = performance.now();
      work();
      next = start + Math.max(milliseconds, 10 * (performance.now() - start));
    }, next - performance.now());
  };
}

/** Calls `draw` when the element gets its first width or another one, also that on paper. */
export function onWidth(element, draw) {
  let width = 0;
  const look = () => {
    if (element.clientWidth !== width && (width = element.clientWidth)) draw(width);
  };
  new ResizeObserver(look).observe(element);
  matchMedia("print").addEventListener("change", look); // the observer would answer after the page is printed
}
