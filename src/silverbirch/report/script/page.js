// Starts the explorer of a page. If that fails, the static page stays, and one line says why.

import { start } from "./main.js";

export async function startPage() {
  const root = document.documentElement;
  const explorer = document.getElementById("explorer");
  const data = document.getElementById("silverbirch-data");
  root.classList.add("live"); // before the start: a canvas that is not shown has no size
  try {
    window.silverbirch = await start(explorer, data.textContent, { hash: true });
  } catch (error) {
    root.classList.remove("live");
    const line = document.createElement("p");
    line.className = "failure";
    line.setAttribute("role", "status");
    line.textContent = `This page is not interactive: ${error instanceof Error ? error.message : String(error)}`;
    explorer.before(line);
    console.error(error);
  }
}
