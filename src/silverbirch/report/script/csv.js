// Tables as comma-separated values (RFC 4180).

/** One cell. Text that a spreadsheet would take for a formula gets an apostrophe in front. */
export function csvCell(value) {
  if (typeof value === "number") return String(value);
  const text = String(value ?? "").replace(/^(?=\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r])/, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A table, in pieces of some thousand rows, because one string may not be able to hold all of them. */
export function csvPieces(heads, length, rowAt) {
  const line = (cells) => `${cells.map(csvCell).join(",")}\r\n`;
  const pieces = [line(heads)];
  for (let begin = 0; begin < length; begin += 10_000) {
    const size = Math.min(10_000, length - begin);
    pieces.push(Array.from({ length: size }, (_, i) => line(rowAt(begin + i))).join(""));
  }
  return pieces;
}
