"""What waits in Chromium until a page shows a change: `page.evaluate(SETTLED)`."""

NEXT_FRAME = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Until the picture of the dendrogram is drawn."""

SETTLED = f"() => new Promise((done) => setTimeout(() => ({NEXT_FRAME})().then(done), 600))"
"""Until the panels are filled and the address is written, which wait for the end of a drag."""
