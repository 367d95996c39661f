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

/**
 * The part of a state that differs from the initial one, as text for the address.
 * @returns {string} for example "k=12&root=431"; "" if nothing differs
 */
export function toHash(state, initial) {
  const parts = new URLSearchParams();
  for (const key of ["root", "from", "to", "scale", "side", "selected", "compared", "sort", "query"]) {
    if (same(state[key], initial[key])) continue;
    const value = state[key];
    parts.set(key, typeof value === "number" && !Number.isInteger(value) ? +value.toPrecision(9) : (value ?? ""));
  }
  if (!same(state.cut, initial.cut)) for (const key of Object.keys(state.cut)) parts.set(key, state.cut[key]);
  return parts.toString();
}

/**
 * The changes that an address asks for. What is malformed or out of range is left out.
 * @param {string} hash with or without "#"
 * @param {{n: number, adaptive: number}} limits number of leaves, number of adaptive cuts
 */
export function fromHash(hash, { n, adaptive = 0 }) {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const state = {};
  const whole = (key, least, most) => {
    const text = parts.get(key) ?? "";
    return /^\d{1,10}$/.test(text) && +text >= least && +text <= most ? +text : undefined;
  };
  const take = (key, value) => {
    if (value !== undefined) state[key] = value;
  };
  const k = whole("k", 1, n), other = whole("adaptive", 0, adaptive - 1);
  if (k !== undefined) state.cut = { k };
  else if (other !== undefined) state.cut = { adaptive: other };
  take("root", whole("root", Math.min(n, 2 * n - 2), 2 * n - 2));
  for (const key of ["selected", "compared"]) take(key, parts.get(key) === "" ? null : whole(key, 0, 2 * n - 2));
  take("scale", SCALES.find((scale) => scale === parts.get("scale")));
  take("side", SIDES.find((side) => side === parts.get("side")));
  for (const key of ["sort", "query"]) if (parts.has(key)) state[key] = parts.get(key).slice(0, 200);
  const from = Number(parts.get("from") ?? 0), to = Number(parts.get("to") ?? 1);
  if ((parts.has("from") || parts.has("to")) && from >= 0 && to <= 1 && from < to) Object.assign(state, { from, to });
  return state;
}
