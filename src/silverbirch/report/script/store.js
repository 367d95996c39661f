// The state of the page, who listens to it, and how it is written in the address.

const later = globalThis.requestAnimationFrame ? (run) => requestAnimationFrame(run) : queueMicrotask;

/**
 * Holds the state. Listeners hear of all changes since the last frame at once, with the set of keys that changed.
 * @param {object} initial
 */
export function createStore(initial) {
  const listeners = new Set();
  const store = { state: { ...initial }, set, subscribe, flush };
  let changed = new Set();

  function set(change) {
    const waiting = changed.size > 0;
    for (const key of Object.keys(change)) {
      if (same(store.state[key], change[key])) continue;
      store.state = { ...store.state, [key]: change[key] };
      changed.add(key);
    }
    if (!waiting && changed.size) later(flush);
  }

  /** Tells the listeners now rather than before the next frame. */
  function flush() {
    if (!changed.size) return;
    const told = changed;
    changed = new Set();
    for (const listener of listeners) listener(store.state, told);
  }

  /** Returns a function that ends the subscription. */
  function subscribe(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  return store;
}

function same(a, b) {
  return a === b || (typeof a === "object" && JSON.stringify(a) === JSON.stringify(b));
}

const SCALES = ["linear", "sqrt", "log"];
const SIDES = ["top", "left"];
const WRITTEN = ["root", "from", "to", "scale", "side", "selected", "compared", "sort", "query"];

/**
 * The part of a state that differs from the initial one, as text for the address.
 * @returns {string} for example "k=12&root=431"; "" if nothing differs
 */
export function toHash(state, initial) {
  const parts = new URLSearchParams(same(state.cut, initial.cut) ? {} : state.cut);
  for (const key of WRITTEN) {
    const value = state[key];
    if (value !== initial[key]) parts.set(key, Number.isFinite(value) ? +value.toPrecision(9) : (value ?? ""));
  }
  return parts.toString();
}

/**
 * The changes that an address asks for. What is malformed or out of range is left out.
 * @param {string} hash with or without "#"
 * @param {{n: number, adaptive: number}} limits number of leaves, number of adaptive cuts
 */
export function fromHash(hash, { n, adaptive = 0 }) {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const whole = (key, least, most) => {
    const text = parts.get(key) ?? "";
    return /^\d{1,10}$/.test(text) && +text >= least && +text <= most ? +text : undefined;
  };
  const node = (key) => (parts.get(key) === "" ? null : whole(key, 0, 2 * n - 2));
  const text = (key) => parts.get(key)?.slice(0, 200);
  const k = whole("k", 1, n), other = whole("adaptive", 0, adaptive - 1);
  const [from, to] = [+(parts.get("from") ?? 0), +(parts.get("to") ?? 1)];
  const state = {
    cut: k ? { k } : other === undefined ? other : { adaptive: other },
    root: whole("root", Math.min(n, 2 * n - 2), 2 * n - 2),
    ...((parts.has("from") || parts.has("to")) && from >= 0 && from < to && to <= 1 && { from, to }),
    scale: SCALES.find((scale) => scale === parts.get("scale")),
    side: SIDES.find((side) => side === parts.get("side")),
    selected: node("selected"),
    compared: node("compared"),
    sort: text("sort"),
    query: text("query"),
  };
  return Object.fromEntries(Object.entries(state).filter(([, value]) => value !== undefined));
}
