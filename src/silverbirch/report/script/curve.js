// The rmsd for every number of clusters, on a logarithmic axis. A click or a drag chooses k.
import { h } from "./dom.js";
import { count, counted, decimalsFor, number } from "./format.js";
import { button, onWidth, quiet, section } from "./parts.js";

const [LEFT, RIGHT, TOP, BOTTOM] = [48, 12, 30, 270]; // edges of the plot, in pixels
const CURVE_POINTS = 300;

/**
 * The numbers of clusters that criteria vote for, ascending, with the names of the criteria; "suggested" if they agree.
 * @param {{k: number|null, votes: Object<string, number|null>}|null} suggestion
 * @returns {{k: number, names: string[]}[]}
 */
export function votesByCount(suggestion) {
  const found = new Map(suggestion?.k ? [[suggestion.k, ["suggested"]]] : []);
  for (const [name, k] of Object.entries(suggestion?.votes ?? {})) if (k) found.set(k, [...(found.get(k) ?? []), name]);
  return [...found].sort(([a], [b]) => a - b).map(([k, names]) => ({ k, names }));
}

/** @param {object} view */
export function curvePanel(view) {
  const { tree, store, cutInto } = view, { n } = tree, { suggestion } = view.data.header;
  const quantity = tree.sse ? "rmsd" : "height";
  const valueAt = (k) => (tree.sse ? tree.rmsdAt(k) : tree.heightsOfCut(k)[0]);
  const end = valueAt(1) || 1;
  const votes = votesByCount(suggestion).filter(({ k }) => k <= n);
  const marker = svg("g", { class: "marker" });
  const label = { role: "slider", tabindex: 0, "aria-label": "Number of clusters", "aria-valuemin": 1, "aria-valuemax": n };
  const picture = svg("svg", label);
  let width = 480;
  const x = (k) => LEFT + (n > 1 ? Math.log(k) / Math.log(n) : 0) * (width - LEFT - RIGHT);
  const y = (value) => BOTTOM + (TOP - BOTTOM) * (value / end);

  function draw() {
    width = picture.clientWidth;
    const counts = Array.from({ length: CURVE_POINTS }, (_, i) => Math.round(n ** (i / (CURVE_POINTS - 1))));
    const points = [...new Set(counts)].map((k) => `${x(k).toFixed(1)},${y(valueAt(k)).toFixed(1)}`).join(" ");
    const marks = votes.map(({ k, names }) => {
      const title = svg("title", {}, `k = ${k}: ${names.join(", ")}`);
      return svg("circle", { class: names[0] === "suggested" ? "suggested" : "vote", cx: x(k), cy: y(valueAt(k)), r: 5 }, title);
    });
    picture.replaceChildren(axes(), svg("polyline", { points }), ...marks, marker);
    mark();
  }

  function axes() {
    const power = 10 ** Math.floor(Math.log10(end));
    const step = power * (end < 2 * power ? 0.5 : end < 5 * power ? 1 : 2);
    const group = svg("g", { class: "axes" }, text(0, TOP - 14, quantity, "start"));
    for (let value = 0; value <= end; value += step) {
      group.append(svg("path", { d: `M${LEFT} ${y(value)}H${width - RIGHT}` }));
      group.append(text(LEFT - 8, y(value) + 4, number(value, decimalsFor(step, 1)), "end"));
    }
    for (let k = 1; k <= n; k *= 10) group.append(text(x(k), BOTTOM + 20, count(k), "middle"));
    return group;
  }

  function mark() {
    const { k, rmsd } = view.partition(), value = rmsd ?? valueAt(Math.max(1, k));
    picture.setAttribute("aria-valuenow", k);
    picture.setAttribute("aria-valuetext", `${counted(k, "cluster", "clusters")}, ${quantity} ${number(value)}`);
    marker.replaceChildren();
    if (!store.state.cut.k) return;
    const side = x(k) < width / 2 ? "start" : "end";
    marker.append(svg("path", { d: `M${x(k)} ${TOP - 8}V${BOTTOM}` }), svg("circle", { cx: x(k), cy: y(value), r: 5 }));
    marker.append(text(x(k) + (side === "end" ? 3 : -3), TOP - 14, `${number(value)} at k = ${count(k)}`, side));
  }

  function drag(event) {
    if (event.type === "pointerdown") picture.setPointerCapture(event.pointerId);
    if (!picture.hasPointerCapture(event.pointerId)) return;
    const share = (event.clientX - picture.getBoundingClientRect().left - LEFT) / (width - LEFT - RIGHT);
    cutInto(n ** share);
  }

  picture.addEventListener("pointerdown", drag);
  picture.addEventListener("pointermove", drag);
  picture.addEventListener("keydown", (event) => {
    const { k } = view.partition();
    const next = { ArrowRight: k + 1, ArrowUp: k + 1, ArrowLeft: k - 1, ArrowDown: k - 1, Home: 1, End: n }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    cutInto(next);
  });
  onWidth(picture, draw);
  const distance = "The root mean squared distance of rows to the mean of their cluster.";
  const what = tree.sse ? distance : "The height of the lowest merge that a cut undoes.";
  const answer = suggestion?.k ? `Suggested: k = ${suggestion.k}` : "No clear suggestion";
  const reason = suggestion?.reason && ` ${answer}; ${suggestion.reason.split(" (")[0]}.`; // the votes are listed below
  const list = votes.map(({ k, names }) => h("li", {}, button(`k = ${count(k)}`, () => cutInto(k)), " ", names.join(", ")));
  return {
    element: section("curve", "Number of clusters", picture, quiet(what, reason), h("ul", {}, list)),
    update: (state, changed) => changed.has("cut") && mark(),
  };
}

function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function text(x, y, words, anchor) {
  return svg("text", { x, y, "text-anchor": anchor }, words);
}
