// Builds elements. Text from the data becomes text nodes and attribute values, never markup.

/**
 * An HTML element. Attributes that are functions listen to the event of their name ("click"); null and false leave one out.
 * @param {string} tag
 * @param {Object<string, *>} [attributes]
 * @param {...(Node|string|number|null|Array)} children
 */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  return replace(element, ...children);
}

/** Replaces what an element contains. */
export function replace(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}
