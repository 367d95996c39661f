"""Reports: one HTML page that needs no other file, no script and no network.

write_report    -- a fitted model: dendrogram, rmsd curve, clusters, what is exact, the record of the run
dendrogram_page -- a dendrogram alone, in the same look; what `Dendrogram.to_html` writes
"""

from .page import dendrogram_page, write_report

__all__ = ["dendrogram_page", "write_report"]
