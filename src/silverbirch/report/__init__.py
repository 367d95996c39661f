"""Reports: one HTML file without scripts that needs no other file and no network.

write_report    -- a report on a fitted model: dendrogram, rmsd curve, clusters, accuracy, the record of the run
dendrogram_page -- a dendrogram alone, in the same style; `Dendrogram.to_html` writes it
"""

from .page import dendrogram_page, write_report

__all__ = ["dendrogram_page", "write_report"]
