// Pointers, wheel and touch on the dendrogram, as zooms, pans, clicks and drags of the cut line.

const STILL = 4; // pixels: a pointer that moves less has clicked

/**
 * Listens to the stage and to the line on it. Points are in pixels from the upper left corner of the stage.
 * @param {object} panel zoom(factor, point) and pan(shift) → whether that changed anything; hover(point | null),
 *   click(point, event), drag(point | null)
 */
export function listen(stage, line, panel) {
  const pointers = new Map();
  let moved = 0, scrolled = -Infinity;
  const point = (event) => {
    const box = stage.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const on = (names, act, options) => names.split(" ").forEach((name) => stage.addEventListener(name, act, options));
  const ofLine = (event) => line.contains(event.target) || line.hasPointerCapture(event.pointerId);

  on("pointerdown", (event) => {
    if (event.button) return;
    if (ofLine(event)) {
      line.setPointerCapture(event.pointerId);
      panel.hover(null);
      panel.drag(point(event));
    } else {
      if (!pointers.size) moved = 0;
      pointers.set(event.pointerId, point(event));
    }
  });
  on("pointermove", (event) => {
    const now = point(event), before = pointers.get(event.pointerId);
    if (line.hasPointerCapture(event.pointerId)) panel.drag(now);
    else if (!before) panel.hover(event.pointerType === "mouse" && !ofLine(event) ? now : null);
    else {
      const old = middle(pointers);
      pointers.set(event.pointerId, now);
      moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
      if (moved <= STILL) return;
      stage.setPointerCapture(event.pointerId);
      const is = middle(pointers);
      if (is.apart) panel.zoom(old.apart / is.apart, is);
      panel.pan({ x: is.x - old.x, y: is.y - old.y });
    }
  });
  on("pointerup pointercancel", (event) => {
    if (line.hasPointerCapture(event.pointerId)) panel.drag(null);
    if (pointers.delete(event.pointerId) && event.type === "pointerup" && moved <= STILL) panel.click(point(event), event);
    if (pointers.size) moved = Infinity; // the rest of a pinch is no click
  });
  on("pointerleave", (event) => event.pointerType === "mouse" && panel.hover(null));

  // A page that is being scrolled goes on scrolling when the tree comes under the pointer.
  addEventListener("scroll", () => (scrolled = performance.now()), { passive: true });
  on("wheel", (event) => {
    const { deltaX, deltaY, shiftKey, ctrlKey } = event, unit = event.deltaMode === 1 ? 16 : 1;
    if (performance.now() - scrolled < 250 && !ctrlKey) return void (scrolled = performance.now());
    const across = shiftKey ? deltaX || deltaY : deltaX;
    const turned = Math.min(200, Math.max(-200, deltaY * unit));
    const changed = shiftKey || Math.abs(deltaX) > Math.abs(deltaY)
      ? panel.pan({ x: -across * unit, y: -across * unit })
      : panel.zoom(Math.exp(turned * (ctrlKey ? 0.01 : 0.002)), point(event));
    if (changed || ctrlKey) event.preventDefault();
  }, { passive: false });
}

/** The middle of one or two pointers, and how far they are apart. */
function middle(pointers) {
  const [a, b = a] = pointers.values();
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: Math.hypot(a.x - b.x, a.y - b.y) };
}
