// Colours for canvases, read from the variables of the style sheet, so that light and dark pages share the code.
import { COLOURS } from "./tree.js";

const VARIABLES = ["paper", "ink", "quiet", "rule", "tint", "bar", "link", "trunk", "noise"];
let known = new WeakMap();

/**
 * The present colours where an element is: `branch` lists those of clusters; the others are named as the variables.
 * @param {Element} element
 * @returns {{branch: string[], paper: string, ink: string, quiet: string, rule: string, tint: string, bar: string,
 *   link: string, trunk: string, noise: string}}
 */
export function colours(element) {
  if (known.has(element)) return known.get(element);
  const style = getComputedStyle(element);
  const value = (name) => style.getPropertyValue(`--${name}`).trim();
  const found = Object.fromEntries(VARIABLES.map((name) => [name, value(name)]));
  found.branch = Array.from({ length: COLOURS }, (_, i) => value(`branch-${i}`));
  known.set(element, found);
  return found;
}

/** The colour of a cluster as a CSS value that follows the theme by itself; grey for noise. */
export function colourVariable(index) {
  return index === undefined ? "var(--noise)" : `var(--branch-${index})`;
}

/** Calls back when the page turns light or dark, or is about to be printed. */
export function onTheme(changed) {
  for (const query of ["(prefers-color-scheme: dark)", "print"]) {
    matchMedia(query).addEventListener("change", () => {
      known = new WeakMap();
      changed();
    });
  }
}
