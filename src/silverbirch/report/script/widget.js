// The explorer in a notebook: anywidget calls `render` with the values that Python and the notebook share.
import { start } from "./main.js";

/**
 * Fills the place of the widget and keeps the present cut and the selected branch equal on both sides.
 * @param {{model: object, el: HTMLElement}} place
 * @returns {Promise<() => void>} ends what was begun
 */
export async function renderWidget({ model, el }) {
  const host = document.createElement("div");
  el.append(host);
  // A tree of its own: the styles of the notebook stay outside, those of the page inside.
  const shadow = host.attachShadow({ mode: "open" });
  const style = document.createElement("style");
  style.textContent = model.get("_style");
  const box = document.createElement("div");
  shadow.append(style, box);
  const view = await start(box, model.get("_data"));
  const { store } = view, shared = ["n_clusters", "adaptive", "selected"];

  function fromPython() {
    const [k, adaptive, selected] = shared.map((name) => model.get(name));
    const cut = k !== null ? { k } : adaptive !== null ? { adaptive } : store.state.cut;
    store.set({ cut, selected });
  }

  const unsubscribe = store.subscribe(({ cut, selected }, changed) => {
    if (!changed.has("cut") && !changed.has("selected")) return;
    [cut.k ?? null, cut.adaptive ?? null, selected].forEach((value, i) => model.set(shared[i], value));
    model.save_changes();
  });
  for (const name of shared) model.on(`change:${name}`, fromPython);
  fromPython();
  return () => {
    unsubscribe();
    for (const name of shared) model.off(`change:${name}`, fromPython);
    host.remove();
  };
}
