// Search: names, texts of rows, labels of clusters.
import { h, replace } from "./dom.js";
import { count } from "./format.js";
import { itemTexts } from "./items.js";
import { called, swatch, throttled, unit } from "./parts.js";

const MOST_FOUND = 20;

/** Text as it is compared: without accents and capitals. */
export function folded(text) {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

/**
 * All texts that can be found: names, and those of all rows, in their leaves. Where these are too many for a page, those of
 * the representatives, each in the smallest branch that it stands for.
 * @returns {{text: string, key: string, node: number}[]}
 */
export function searchEntries({ data: { header, arrays }, tree }) {
  const names = Object.entries(header.names), { texts } = header;
  const rows = texts
    ? texts[0].map((_, row) => [arrays.row_leaf?.[row] ?? row, texts.map((column) => column[row]).filter(Boolean).join(", ")])
    : ofRepresentatives(header, tree);
  return [...names, ...rows].map(([node, text]) => ({ text, key: folded(text), node: Number(node) }));
}

function ofRepresentatives(header, tree) {
  const smallest = new Map();
  for (const [node, items] of Object.entries(header.representatives?.of ?? {})) {
    for (const item of items) if (!(tree.count[smallest.get(item)] <= tree.count[node])) smallest.set(item, node);
  }
  return [...smallest].map(([item, node]) => [node, itemTexts(header, { values: header.representatives.items[item] }).join(", ")]);
}

/** The entries with all words of a query: those that begin with it first, then those with a word that does, heavy nodes first. */
export function searched(entries, query, weight) {
  const key = folded(query.trim()), words = key.split(/\s+/);
  const rank = (text) => (text.startsWith(key) ? 0 : ` ${text}`.includes(` ${key}`) ? 1 : 2);
  const found = key ? entries.filter((entry) => words.every((word) => entry.key.includes(word))) : [];
  const ranked = found.map((entry) => ({ entry, rank: rank(entry.key), heavy: weight[entry.node] })); // a sort asks for them often
  ranked.sort((a, b) => a.rank - b.rank || b.heavy - a.heavy);
  return ranked.slice(0, MOST_FOUND).map(({ entry }) => entry);
}

/** The cluster of the present cut that a number means; [] if there is none. */
export function numbered(view, query) {
  const node = /^\s*\d{1,9}\s*$/.test(query) ? view.partition().largest(Number(query) + 1)[Number(query)]?.node : undefined;
  return node === undefined ? [] : [{ text: called(view, node), node }];
}

/** The smallest branch in which a branch can be seen among its neighbours. */
export function frameOf({ parent, count: leaves }, node) {
  let root = node;
  while (parent[root] >= 0 && leaves[root] < Math.max(40, 6 * leaves[node])) root = parent[root];
  return root;
}

/** @param {object} view */
export function searchPanel(view) {
  const { store, tree } = view;
  const combobox = { role: "combobox", "aria-label": "Search", "aria-controls": "found", "aria-autocomplete": "list" };
  const field = { type: "search", placeholder: "Search names, texts, clusters", autocomplete: "off" };
  const input = h("input", { ...field, ...combobox, input: () => lookSoon(), keydown, blur: () => show(false) });
  const list = h("ul", { id: "found", role: "listbox", "aria-label": "Found" }), lookSoon = throttled(look, 60);
  let entries = null, found = [], active = 0, query = "";
  show(false);

  function look() {
    query = input.value;
    store.set({ query });
    entries ??= searchEntries(view);
    found = [...numbered(view, query), ...searched(entries, query, tree.weight)];
    replace(list, found.map(option), !found.length && h("li", {}, entries.length ? `Nothing found in ${count(entries.length)} texts.` : "Nothing found: there are no names or texts here."));
    show(query !== "");
    highlight(0);
    list.scrollIntoView({ block: "nearest" }); // the field may be the last line of the screen
  }

  function option({ text, node }, place) {
    const top = view.partition().topOf(node);
    const pointerdown = (event) => {
      event.preventDefault(); // the field keeps the focus
      take(place);
    };
    const where = top >= 0 && top !== node ? `in ${called(view, top)}` : `${count(tree.weight[node])} ${unit(view)}`;
    return h("li", { role: "option", id: `found-${place}`, pointerdown }, swatch(view, node), h("bdi", {}, text), h("small", {}, where));
  }

  function highlight(place) {
    active = place;
    input.setAttribute("aria-activedescendant", `found-${place}`);
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", i === place));
    list.children[place].scrollIntoView({ block: "nearest" });
  }

  function take(place) {
    const { node } = found[place];
    store.set({ selected: node, root: frameOf(tree, node), from: 0, to: 1 });
    show(false);
  }

  function show(open) {
    list.hidden = !open;
    input.setAttribute("aria-expanded", open);
  }

  function keydown(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    event.stopPropagation();
    if (event.key === "Escape") show(false);
    if (event.key === "Enter" && !list.hidden && found.length) take(active);
    if (!step) return;
    event.preventDefault();
    if (list.hidden) look();
    else if (found.length) highlight((active + step + found.length) % found.length);
  }

  return {
    element: h("search", { class: "panel search" }, input, list),
    update(state) {
      if (query !== state.query) input.value = query = state.query; // from the address, not from this field
    },
  };
}
