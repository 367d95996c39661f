// Search: names, texts of representatives, labels of clusters, numbers of leaves and rows.
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
 * All texts that can be found. A representative belongs to the smallest branch that it stands for.
 * @returns {{text: string, key: string, node: number}[]}
 */
export function searchEntries({ data: { header }, tree }) {
  const texts = Object.entries(header.names ?? {}), smallest = new Map();
  for (const [node, items] of Object.entries(header.representatives?.of ?? {})) {
    for (const item of items) if (!(tree.count[smallest.get(item)] <= tree.count[node])) smallest.set(item, node);
  }
  for (const [item, node] of smallest) {
    texts.push([node, itemTexts(header, { values: header.representatives.items[item] }).join(", ")]);
  }
  return texts.map(([node, text]) => ({ text, key: folded(text), node: Number(node) }));
}

/** The entries with all words of a query: those that begin with it first, then those with a word that does, heavy nodes first. */
export function searched(entries, query, weight) {
  const key = folded(query.trim()), words = key.split(/\s+/);
  const rank = (text) => (text.startsWith(key) ? 0 : ` ${text}`.includes(` ${key}`) ? 1 : 2);
  const found = key ? entries.filter((entry) => words.every((word) => entry.key.includes(word))) : [];
  found.sort((a, b) => rank(a.key) - rank(b.key) || weight[b.node] - weight[a.node]);
  return found.slice(0, MOST_FOUND);
}

/** What a number means: "12" or "cluster 12" of the present cut, "leaf 12", "row 12"; [] if there is no such thing. */
export function numbered(view, query) {
  const [, kind = "cluster", digits] = /^(?:(cluster|leaf|row) +)?(\d{1,9})$/i.exec(query.trim()) ?? [], place = Number(digits);
  const { row_leaf: rowLeaf } = view.data.arrays;
  const nodes = {
    cluster: () => view.partition().largest(place + 1)[place]?.node,
    leaf: () => (place < view.tree.n ? place : undefined),
    row: () => rowLeaf?.[place],
  };
  const node = digits && nodes[kind.toLowerCase()]();
  return node === undefined ? [] : [{ text: called(view, node), node }];
}

/** The window of the dendrogram in which a branch can be seen: the present one if the branch is wide enough in it. */
export function windowOn(tree, node, { root, from, to }) {
  if (!tree.isWithin(node, root)) [root, from, to] = [tree.root, 0, 1];
  const all = tree.count[root], first = tree.first[node] - tree.first[root], leaves = tree.count[node];
  if (first >= from * all && first + leaves <= to * all && 12 * leaves >= (to - from) * all) return { root, from, to };
  const width = Math.min(all, Math.max(6 * leaves, 40));
  const begin = Math.max(0, Math.min(all - width, first + (leaves - width) / 2));
  return { root, from: begin / all, to: (begin + width) / all };
}

/** @param {object} view */
export function searchPanel(view) {
  const { store, tree } = view;
  const combobox = { role: "combobox", "aria-label": "Search", "aria-controls": "found", "aria-autocomplete": "list" };
  const field = { type: "search", placeholder: "Search names, texts, clusters", autocomplete: "off" };
  const input = h("input", { ...field, ...combobox, input: () => lookSoon(), keydown, blur: close });
  const list = h("ul", { id: "found", role: "listbox", "aria-label": "Found" });
  let entries = null, found = [], active = 0, query = "";
  close();

  function look() {
    query = input.value;
    store.set({ query });
    entries ??= searchEntries(view);
    found = [...numbered(view, query), ...searched(entries, query, tree.weight)];
    replace(list, found.map(option), query && !found.length && h("li", {}, "Nothing found."));
    list.hidden = !query;
    input.setAttribute("aria-expanded", !list.hidden);
    highlight(0);
  }
  const lookSoon = throttled(look, 60);

  function option({ text, node }, place) {
    const top = view.partition().topOf(node), size = `${count(tree.weight[node])} ${unit(view)}`;
    const pointerdown = (event) => {
      event.preventDefault(); // the field keeps the focus
      take(place);
    };
    const where = h("small", {}, top >= 0 && top !== node ? `in ${called(view, top)}` : size);
    return h("li", { role: "option", id: `found-${place}`, pointerdown }, swatch(view, node), h("bdi", {}, text), where);
  }

  function highlight(place) {
    active = place;
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", i === active));
    input.setAttribute("aria-activedescendant", found.length ? `found-${active}` : "");
    list.children[active]?.scrollIntoView({ block: "nearest" });
  }

  function take(place) {
    const { node } = found[place];
    store.set({ selected: node, ...windowOn(tree, node, store.state) });
    close();
  }

  function close() {
    list.hidden = true;
    input.setAttribute("aria-expanded", false);
  }

  function keydown(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (list.hidden && step) look();
    else if (step && found.length) highlight((active + step + found.length) % found.length);
    else if (event.key === "Enter" && !list.hidden && found.length) take(active);
    else if (event.key === "Escape") close();
    if (step) event.preventDefault();
    event.stopPropagation();
  }

  return {
    element: h("search", { class: "panel search" }, input, list),
    update(state) {
      if (query !== state.query) input.value = query = state.query; // from the address, not from this field
    },
  };
}
