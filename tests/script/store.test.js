import assert from "node:assert/strict";
import { test } from "node:test";
import { createStore, fromHash, toHash } from "../../src/silverbirch/report/script/store.js";

const INITIAL = { cut: { k: 10 }, root: 1998, from: 0, to: 1, scale: "sqrt", side: "top", selected: null, compared: null, sort: "", query: "" };
const LIMITS = { n: 1000, adaptive: 2 };

test("an address returns to the same state", () => {
  const states = [
    {},
    { cut: { k: 77 }, root: 1500, from: 0.25, to: 0.3125, scale: "log", side: "left", selected: 3, compared: 1200, sort: "rmsd", query: "a&b=c#%é" },
    { cut: { adaptive: 1 } },
    { cut: { k: 1 }, from: 0, to: 0.5 },
  ];
  for (const change of states) {
    const state = { ...INITIAL, ...change };
    assert.deepEqual({ ...INITIAL, ...fromHash(`#${toHash(state, INITIAL)}`, LIMITS) }, state);
  }
  assert.equal(toHash(INITIAL, INITIAL), "");
});

test("an address says that nothing is selected where the page begins with a selection", () => {
  const initial = { ...INITIAL, selected: 5 };
  assert.deepEqual(fromHash(toHash({ ...initial, selected: null }, initial), LIMITS), { selected: null });
});

test("what is malformed or out of range in an address is left out", () => {
  for (const hash of [
    "#k=0", "#k=1001", "#k=-3", "#k=1e3", "#k=3.5", "#k=NaN", "#k=", "#k=99999999999999999999", "#adaptive=2", "#adaptive=x",
    "#root=3", "#root=1999", "#root=__proto__", "#from=0.7&to=0.2", "#from=-1", "#to=2", "#from=NaN&to=1", "#from=x", "#scale=cubic",
    "#side=toString", "#selected=1999", "#selected=-1", "#compared=null", "#%E0%A4%A", "#&&==", "#clusters", "#constructor=1",
  ]) assert.deepEqual(fromHash(hash, LIMITS), {}, hash);
});

test("listeners hear of all changes at once, and not of a change to the same value", async () => {
  const store = createStore(INITIAL);
  const heard = [];
  const end = store.subscribe((state, changed) => heard.push([state.cut.k, [...changed]]));
  store.set({ cut: { k: 11 } });
  store.set({ cut: { k: 12 }, side: "left" });
  assert.equal(store.state.cut.k, 12);
  assert.deepEqual(heard, []);
  await Promise.resolve();
  store.set({ cut: { k: 12 } });
  store.flush();
  assert.deepEqual(heard, [[12, ["cut", "side"]]]);
  end();
  store.set({ side: "top" });
  store.flush();
  assert.equal(heard.length, 1);
});
