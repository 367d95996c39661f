"""A parser of HTML pages, and a text that must be escaped in them."""

from html.parser import HTMLParser

VOID = {"meta", "br", "col", "path", "use", "rect"}
EVIL = "<script>alert(\"1\")</script> & 'quoted' </style></title>"


class Page(HTMLParser):
    """Parses a page: checks the nesting of elements; keeps scripts, texts, and the cells of each table."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.texts, self.scripts = [], [], [], [], []
        self.tables = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, name, attributes):
        self.tags.append(name)
        self.attributes += [(name, key, value) for key, value in attributes]
        if name == "table":
            self.tables.append([])
        if name == "tr":
            self.tables[-1].append([])
        if name in ("td", "th"):
            self.tables[-1][-1].append("")
        if name not in VOID:
            self.open.append(name)

    def handle_startendtag(self, name, attributes):
        self.tags.append(name)
        self.attributes += [(name, key, value) for key, value in attributes]

    def handle_endtag(self, name):
        if name not in VOID:
            assert self.open.pop() == name

    def handle_data(self, data):
        if self.open[-1:] == ["script"]:  # nobody reads it
            self.scripts.append(data)
            return
        self.texts.append(data)
        if self.open[-1:] and "table" in self.open and {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data

    @property
    def text(self):
        return "".join(self.texts)

    def values(self, key):
        return [value for _, name, value in self.attributes if name == key]
