// Representatives: rows that stand for a branch, as texts and pictures.
import { h } from "./dom.js";

/** The texts of a representative. */
export function itemTexts({ representatives: { kinds } }, { values }) {
  return values.filter((value, i) => kinds[i] !== "image" && value !== null && value !== "").map(String);
}

/** The representatives of a branch in a cell: pictures, first texts, and further ones in a quieter tone. */
export function itemsCell(view, node, most) {
  const { header } = view.data;
  const { kinds } = header.representatives;
  const shown = view.representatives(node).slice(0, most).map((item) => {
    const [first, ...others] = itemTexts(header, item);
    const pictures = item.values.filter((value, i) => kinds[i] === "image" && /^data:image\//.test(value));
    const alt = first ?? `row ${item.row}`;
    const texts = [h("bdi", {}, first), others.length > 0 && [" ", h("small", {}, h("bdi", {}, others.join(", ")))]];
    return h("span", { title: [first, ...others].join(", ") }, pictures.map((src) => h("img", { src, alt })), texts);
  });
  return h("td", { class: `items ${kinds.includes("image") ? "pictures" : "texts"}` }, shown);
}
