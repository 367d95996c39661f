import assert from "node:assert/strict";
import { test } from "node:test";
import { fittingScale, heightScale, lowHeight, tickText, ticksOf } from "../../src/silverbirch/report/script/scales.js";
import { chain } from "./trees.js";

test("a scale goes from 0 to 1 and back", () => {
  for (const kind of ["linear", "sqrt", "log"]) {
    const scale = heightScale(kind, 40, 0.01);
    assert.equal(scale.of(40), 1);
    for (const t of [0, 0.1, 0.5, 1]) assert.ok(Math.abs(scale.of(scale.height(t)) - t) < 1e-12);
    for (const height of [0, 1e-9, 40]) assert.ok(scale.of(height) >= 0 && scale.of(height) <= 1);
  }
});

test("a tree of equal leaves has a scale, too", () => {
  for (const kind of ["linear", "sqrt", "log"]) assert.equal(heightScale(kind, 0, 0).of(0), 0);
  const tree = chain(20, new Float32Array(19));
  assert.equal(fittingScale(tree), "linear");
  assert.equal(lowHeight(tree), 0);
});

test("ticks are round, in range and far enough apart", () => {
  for (const kind of ["linear", "sqrt", "log"]) {
    for (const top of [1e-30, 0.003, 1, 7.3, 33_000, 1e30]) {
      const scale = heightScale(kind, top, top / 3000);
      const ticks = ticksOf(scale, 0.08);
      assert.ok(ticks.length >= 3 && ticks.length <= 13, `${kind} ${top}: ${ticks}`);
      const places = ticks.map(scale.of).sort((a, b) => a - b);
      for (let i = 1; i < places.length; i++) assert.ok(places[i] - places[i - 1] > 0.0799);
      for (const tick of ticks) {
        assert.ok(tick <= top);
        assert.ok(tick === 0 || /^[1-9]e/.test(Number(tick.toPrecision(12)).toExponential()) || kind === "linear");
      }
    }
  }
});

/** Merges whose heights grow with a power of their number. */
function powers(power) {
  return chain(1000, Float32Array.from({ length: 999 }, (_, i) => ((i + 1) / 999) ** power));
}

test("a scale is chosen on which the uppermost merges can be told apart", () => {
  assert.equal(fittingScale(powers(1)), "linear");
  assert.equal(fittingScale(powers(30)), "sqrt");
  assert.equal(fittingScale(powers(90)), "log");
});

test("ticks have no trailing zeros", () => {
  assert.deepEqual([0, 0.5, 20_000, 1e-7, 3e12, 0.30000000000000004].map(tickText), ["0", "0.5", "20,000", "1e-7", "3e12", "0.3"]);
});
