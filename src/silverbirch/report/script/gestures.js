// Pointers, wheel and touch on the stage of the dendrogram, as zooms, pans and clicks.

const STILL = 4; // pixels: a pointer that moves less has clicked

/**
 * Listens to the stage. Points are in pixels from its upper left corner.
 * @param {HTMLElement} stage
 * @param {object} actions zoom(factor, point) → whether anything changed, pan(dx, dy), hover(point | null), click(point, event)
 */
export function listen(stage, { zoom, pan, hover, click }) {
  const pointers = new Map();
  let moved = 0, pageScrolled = -Infinity;

  const point = (event) => {
    const box = stage.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  stage.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.target.closest(".cut-line")) return;
    if (!pointers.size) moved = 0;
    pointers.set(event.pointerId, point(event));
  });
  stage.addEventListener("pointermove", (event) => {
    const now = point(event);
    const before = pointers.get(event.pointerId);
    if (!before) return void (event.pointerType === "mouse" && hover(now));
    moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    if (moved > STILL && !stage.hasPointerCapture(event.pointerId)) stage.setPointerCapture(event.pointerId);
    const old = [...pointers.values()];
    pointers.set(event.pointerId, now);
    if (moved <= STILL) return;
    hover(null);
    if (pointers.size === 2) {
      const [was, is] = [middle(old), middle([...pointers.values()])];
      zoom(was.apart / Math.max(1, is.apart), is);
      pan(is.x - was.x, is.y - was.y);
    } else if (pointers.size === 1) pan(now.x - before.x, now.y - before.y);
  });
  const release = (event) => {
    if (pointers.delete(event.pointerId) && event.type === "pointerup" && moved <= STILL) click(point(event), event);
    if (pointers.size) moved = Infinity; // the rest of a pinch is no click
  };
  stage.addEventListener("pointerup", release);
  stage.addEventListener("pointercancel", release);
  stage.addEventListener("pointerleave", () => hover(null));

  // A page that is being scrolled goes on scrolling when the tree comes under the pointer.
  addEventListener("scroll", () => (pageScrolled = performance.now()), { passive: true });
  stage.addEventListener(
    "wheel",
    (event) => {
      const unit = event.deltaMode === 1 ? 16 : 1;
      const recent = performance.now() - pageScrolled < 250;
      pageScrolled = recent ? performance.now() : -Infinity;
      if (recent && !event.ctrlKey) return;
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
      const changed = sideways
        ? pan(-(event.deltaX || event.deltaY) * unit, -(event.deltaX || event.deltaY) * unit)
        : zoom(Math.exp(Math.max(-200, Math.min(200, event.deltaY * unit)) * (event.ctrlKey ? 0.01 : 0.002)), point(event));
      if (changed || event.ctrlKey) event.preventDefault();
    },
    { passive: false },
  );
}

function middle([a, b]) {
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: Math.hypot(a.x - b.x, a.y - b.y) };
}
