// Representatives: rows that stand for a branch, as texts and pictures.
import { h } from "./dom.js";

/** The texts of a representative. */
export function itemTexts({ representatives: { kinds } }, { values }) {
  return values.filter((value, i) => kinds[i] !== "image" && value).map(String);
}

/** The representatives of a branch as a cell, or as another element: pictures, first texts, and further ones in a quieter tone. */
export function itemsCell(view, node, tag = "td") {
  const { header } = view.data, { kinds } = header.representatives;
  const items = view.representatives(node).map((item) => {
    const [first, ...others] = itemTexts(header, item);
    const pictures = item.values.filter((value, i) => kinds[i] === "image" && value?.startsWith("data:image/"));
    const shown = pictures.map((src) => h("img", { src, alt: first ?? `row ${item.row}` }));
    return h("span", { title: [first, ...others].join(", ") }, shown, h("bdi", {}, first), " ", h("small", {}, others.join(", ")));
  });
  return h(tag, { class: kinds.includes("image") ? "items pictures" : "items" }, items);
}
