// Tables as comma-separated values (RFC 4180).

/** One cell. Text that a spreadsheet would take for a formula gets an apostrophe in front. */
export function csvCell(value) {
  if (typeof value === "number") return String(value);
  const text = String(value ?? "").replace(/^(?=\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r])/, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A table. */
export function csvText(rows) {
  return rows.map((cells) => `${cells.map(csvCell).join(",")}\r\n`).join("");
}
