"""Reports: one interactive HTML file that needs no other file and no network, or the same as a widget.

write_report    -- a report on a fitted model: dendrogram, rmsd curve, clusters, accuracy, the record of the run
dendrogram_page -- a dendrogram alone, in the same style; `Dendrogram.to_html` writes it
widget.explore  -- either of them in a notebook
"""

from .page import dendrogram_page, write_report

__all__ = ["dendrogram_page", "write_report"]
