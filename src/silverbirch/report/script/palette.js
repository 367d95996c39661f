// Colours for canvases, read from the variables of the style sheet, so that light and dark pages share the code.

const NAMES = ["paper", "ink", "quiet", "rule", "tint", "bar", "link", "trunk", "noise"];
let known = null;

/**
 * The present colours: `branch` is a list of ten; the others are named as the variables.
 * @returns {{branch: string[], paper: string, ink: string, quiet: string, rule: string, tint: string, bar: string,
 *   link: string, trunk: string, noise: string}}
 */
export function colours() {
  if (known) return known;
  const style = getComputedStyle(document.querySelector(".explorer") ?? document.documentElement);
  const value = (name) => style.getPropertyValue(`--${name}`).trim();
  known = Object.fromEntries(NAMES.map((name) => [name, value(name)]));
  known.branch = Array.from({ length: 10 }, (_, i) => value(`branch-${i}`));
  return known;
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
