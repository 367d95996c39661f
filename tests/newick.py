"""A parser of the Newick format, to check what was written."""

import itertools
import re


def newick_tokens(text):
    return re.findall(r"'(?:[^']|'')*'|[(),:;]|[^(),:;']+", text)


def parsed_newick(text):
    """Nested nodes with children or a name, and the length of the branch above; an unquoted underscore is a blank."""
    tokens = newick_tokens(text)
    assert "".join(tokens) == text
    assert tokens[-1] == ";"
    open_nodes, done = [], None
    for before, token in itertools.pairwise([None, *tokens[:-1]]):
        if token == "(":
            open_nodes.append([])
        elif token in (",", ")"):
            open_nodes[-1].append(done)
            if token == ")":
                done = {"children": open_nodes.pop(), "length": 0.0}
        elif before == ":":
            done["length"] = float(token)
        elif token != ":":
            quoted = token.startswith("'")
            name = token[1:-1].replace("''", "'") if quoted else token.replace("_", " ")
            done = {"name": name, "length": 0.0}
    assert not open_nodes
    return done
