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
  const { store } = view;

  function fromPython() {
    const [k, adaptive] = [model.get("n_clusters"), model.get("adaptive")];
    store.set({ cut: k === null ? { adaptive } : { k }, selected: model.get("selected") });
  }

  const unsubscribe = store.subscribe(({ cut, selected }, changed) => {
    if (!changed.has("cut") && !changed.has("selected")) return;
    model.set({ n_clusters: cut.k ?? null, adaptive: cut.adaptive ?? null, selected });
    model.save_changes();
  });
  const names = ["n_clusters", "adaptive", "selected"].map((name) => `change:${name}`);
  for (const name of names) model.on(name, fromPython);
  fromPython();
  return () => {
    unsubscribe();
    for (const name of names) model.off(name, fromPython);
    host.remove();
  };
}

export default { render: renderWidget };
