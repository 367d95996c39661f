"""Label files: the label of each row, beside columns that are kept from the input.

formats   -- what the bytes of a file are
targets   -- one file, a folder with a file for each input file, or standard output
"""

from .formats import LEFT_OUT, SUFFIXES
from .targets import LabelFolder, LabelTarget, LabelWriter, label_target, label_writer, part_writer

__all__ = [
    "LEFT_OUT",
    "SUFFIXES",
    "LabelFolder",
    "LabelTarget",
    "LabelWriter",
    "label_target",
    "label_writer",
    "part_writer",
]
