"""The documentation: `make docs` builds it from the folder above this one.

The whole repository is the source folder, so a link between two Markdown files is the same here and on a code host.
Nothing is fetched while it is built, and the built pages need no network.
"""

import sys
from pathlib import Path

import silverbirch

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_tools"))

project = "silverbirch"
author = "The silverbirch developers"
copyright = "The silverbirch developers. BSD-3-Clause"
version = release = silverbirch.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_design",
    "sphinx_copybutton",
    "code_links",
    "contents",
    "mathml",
    "reference_pages",
]
html_math_renderer = "mathml"
root_doc = "docs/index"
include_patterns = [
    "docs/**.md",
    "docs/reference/*.rst",
    "examples/**.md",
    "cpp/silverbirch/**/README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
]
exclude_patterns = [".*", "build", "dist", "demo-output", "reproduction", "src", "tests", "benchmarks", "experiments"]

myst_enable_extensions = ["colon_fence", "dollarmath", "amsmath"]
myst_heading_anchors = 4  # the anchors that code hosts make
myst_dmath_allow_digits = False  # "$5" is no formula

default_role = "literal"  # `name` in a docstring is code

# Docstrings hold their types and members in numpydoc's form, so nothing is taken from annotations or added.
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

toc_object_entries_show_parents = "hide"

nitpicky = True
highlight_language = "none"
# Blocks with … in them are no code; tests/test_doc_links.py says which pages must be in the navigation.
suppress_warnings = ["misc.highlighting_failure", "toc.not_included"]

html_title = "silverbirch"
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["silverbirch.css"]
html_extra_path = ["_extra"]
html_show_sourcelink = False
html_show_sphinx = False
html_context = {"default_mode": "auto"}  # light or dark as the reader's system; without it the theme logs an error
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "show_nav_level": 1,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "friendly",
    "pygments_dark_style": "github-dark",
}
html_sidebars = {"docs/index": []}

# Prompts and output stay behind when a block is copied.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
