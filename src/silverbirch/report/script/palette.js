// Colours for canvases, read from the variables of the style sheet, so that light and dark pages share the code.
import { COLOURS } from "./tree.js";

const VARIABLES = ["paper", "ink", "quiet", "rule", "tint", "bar", "link", "trunk", "noise"];
let host = null, known = null;

/**
 * The present colours: `branch` lists those of clusters; the others are named as the variables.
 * @returns {{branch: string[], paper: string, ink: string, quiet: string, rule: string, tint: string, bar: string,
 *   link: string, trunk: string, noise: string}}
 */
export function colours() {
  if (known) return known;
  const style = getComputedStyle(host);
  const value = (name) => style.getPropertyValue(`--${name}`).trim();
  known = Object.fromEntries(VARIABLES.map((name) => [name, value(name)]));
  known.branch = Array.from({ length: COLOURS }, (_, i) => value(`branch-${i}`));
  return known;
}

/** Reads the colours where this element is: a widget has a style sheet of its own. */
export function coloursOf(element) {
  host = element;
  known = null;
}

/** The colour of a cluster as a CSS value that follows the theme by itself; grey for noise. */
export function colourVariable(index) {
  return index === undefined ? "var(--noise)" : `var(--branch-${index})`;
}

/** Calls back when the page turns light or dark, or is about to be printed. */
export function onTheme(changed) {
  for (const query of ["(prefers-color-scheme: dark)", "print"]) {
    matchMedia(query).addEventListener("change", () => {
      known = null;
      changed();
    });
  }
}
