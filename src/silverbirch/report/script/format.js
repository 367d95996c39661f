// Numbers as report/numbers.py writes them: significant digits only, separated thousands, a true minus sign.

const MINUS = "\u2212";
const FORMATS = [];

/** A number of rows or a weight; whole numbers have no decimals. */
export function count(value) {
  return number(value, Number.isInteger(value) ? 0 : 2);
}

/** A count and what is counted: "1 leaf", "12,000 leaves". */
export function counted(value, one, many) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A number with this many decimals; four significant digits if left out. */
export function number(value, decimals = decimalsFor(value)) {
  if (!Number.isFinite(value)) return String(value);
  if (decimals > 6 || (Math.abs(value) >= 1e9 && !Number.isInteger(value))) return general(value);
  FORMATS[decimals] ??= new Intl.NumberFormat("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  const text = FORMATS[decimals].format(value);
  return /[1-9]/.test(text) ? text.replace("-", MINUS) : text.replace("-", ""); // no minus zero
}

/** A share of one: "12.3 %". */
export function percent(share) {
  if (share > 0 && share < 0.0005) return "< 0.1 %";
  if (share >= 0.9995 && share < 1) return "> 99.9 %";
  return `${(100 * share).toFixed(1)} %`.replace("-", MINUS);
}

/** A number with its sign, unless it is zero. */
export function signed(value, decimals) {
  const text = number(value, decimals);
  return text.startsWith(MINUS) || !/[1-9]/.test(text) ? text : `+${text}`;
}

/** The number of decimals that gives a number of this size so many significant digits. */
export function decimalsFor(size, digits = 4) {
  if (size === 0 || !Number.isFinite(size)) return 0;
  return Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(size))));
}

/** Four significant digits, as Python's "%.4g". */
function general(value) {
  const [digits, exponent] = value.toExponential(3).split("e");
  if (+exponent >= -4 && +exponent < 4) return String(+value.toPrecision(4)).replace("-", MINUS);
  const power = `${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
  return `${String(+digits)}e${power}`.replaceAll("-", MINUS);
}
