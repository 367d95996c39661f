// Scales of heights: linear, square root, logarithm.

const LOWEST = 1e-5; // of the top: where a logarithmic scale ends

/**
 * Maps heights up to `top` to 0…1 and back. A logarithmic scale begins at `low`; what is lower lies on the base line.
 * @param {"linear"|"sqrt"|"log"} kind
 */
export function heightScale(kind, top, low) {
  top = top > 0 ? top : 1;
  const least = Math.min(Math.max(low, top * LOWEST), top / 10);
  const span = Math.log(top / least);
  const of = {
    linear: (height) => height / top,
    sqrt: (height) => Math.sqrt(Math.max(0, height) / top),
    log: (height) => (height > least ? Math.log(height / least) / span : 0),
  }[kind];
  const height = {
    linear: (t) => t * top,
    sqrt: (t) => t * Math.abs(t) * top,
    log: (t) => least * Math.exp(t * span),
  }[kind];
  return { kind, top, least: kind === "log" ? least : 0, of, height };
}

/** The lowest height worth showing on a logarithmic scale: one merge in fifty is lower. */
export function lowHeight({ level, n }) {
  for (let i = Math.floor((n - 1) / 50); i < n - 1; i++) if (level[i] > 0) return level[i];
  return 0;
}

/** A scale on which half of the uppermost merges do not lie on the base line. */
export function fittingScale({ level, n }) {
  const shown = Math.min(n - 1, 200);
  const share = level[n - 1 - Math.ceil(shown / 2)] / level[n - 2];
  if (n < 4 || !(share < 0.12)) return "linear";
  return share < 0.006 ? "log" : "sqrt";
}

/**
 * Round heights for an axis, at least `gap` apart in units of the scale: powers of ten first, then 2 and 5, then the others.
 * @returns {number[]}
 */
export function ticksOf(scale, gap) {
  if (scale.kind === "linear") return linearTicks(scale.top, gap);
  const ticks = scale.least ? [] : [0];
  const places = scale.least ? [] : [0];
  for (const digits of [[1], [2, 5], [3, 4, 6, 7, 8, 9]]) {
    for (let power = Math.floor(Math.log10(scale.top)), steps = 0; steps < 16; power--, steps++) {
      for (const digit of digits) {
        const height = digit * 10 ** power;
        const t = scale.of(height);
        if (height > scale.top || height < scale.least || places.some((other) => Math.abs(other - t) < gap)) continue;
        ticks.push(height);
        places.push(t);
      }
    }
  }
  return ticks;
}

function linearTicks(top, gap) {
  const least = gap * top;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].find((digit) => digit * power >= least) * power;
  return Array.from({ length: Math.floor(top / step) + 1 }, (_, i) => i * step);
}

const PLAIN = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });

/** A height on an axis, without trailing zeros. */
export function tickText(height) {
  if (height !== 0 && (height < 1e-4 || height >= 1e7)) return height.toExponential().replace(/(\.\d\d)\d*/, "$1").replace("e+", "e");
  return PLAIN.format(height);
}
