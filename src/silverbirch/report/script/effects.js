// The columns that distinguish clusters, from standardised means.
import { number } from "./format.js";

/**
 * The columns of the largest absolute values, the largest first, without those of value 0. For the standardised mean of
 * a cluster these are Python's `ClusterTable.distinguishing`.
 * @param {ArrayLike<number>} z
 * @param {number} most
 * @returns {{column: number, effect: number}[]}
 */
export function strongest(z, most = 4) {
  const all = Array.from(z, (effect, column) => ({ column, effect })).filter(({ effect }) => effect);
  return all.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect)).slice(0, most);
}

/** The columns in which several clusters differ most from all rows, by the sum of weight · z², in the order of the columns. */
export function mostSpread(means, weights, most) {
  const spread = Array.from(means[0] ?? [], (_, j) => means.reduce((sum, z, i) => sum + weights[i] * z[j] ** 2, 0));
  return strongest(spread, most).map(({ column }) => column).sort((a, b) => a - b);
}

/** A standardised mean in the units of its column. */
export function inUnits({ mean, deviation }, z) {
  return mean + z * deviation;
}

/** The same as text; a dash if it is not known. */
export function columnValue(column, z) {
  return z === undefined ? "\u2013" : number(inUnits(column, z), column.decimals ?? undefined);
}
