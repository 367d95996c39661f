// Builds elements. Text from the data becomes text nodes and attribute values, never markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * An HTML element. Attributes that are functions listen to the event of their name ("click"); null and false leave one out.
 * @param {string} tag
 * @param {Object<string, *>} [attributes]
 * @param {...(Node|string|number|null|Array)} children
 */
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Replaces what an element contains. */
export function replace(element, ...children) {
  element.replaceChildren(...present(children));
  return element;
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...present(children));
  return element;
}

function present(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}
