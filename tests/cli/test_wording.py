"""Messages of the command line name options; those of Python name parameters; neither changes what a user named."""

import ast
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import silverbirch as sb
from commands import silverbirch as command_line
from silverbirch.cli.cluster import cluster
from silverbirch.cli.grouping import grouped
from silverbirch.cli.wording import OPTIONS, in_options, options_of
from silverbirch.model import AggregateModel
from silverbirch.wording import parameter

PACKAGE = Path(sb.__file__).parent

# Parameters that have no option, because no command sets them.
NOT_OF_COMMANDS = {
    "X": "the rows, which are files",
    "y": "the points of `linkage`",
    "n": "representatives",
    "weight": "of CFTree and ClusterFeatures",
    "weights": "of `linkage`",
    "sse": "of ClusterFeatures",
    "mean": "of ClusterFeatures",
    "features": "of Dendrogram",
    "branching": "of CFTree",
    "factor": "CFTree.decay",
    "lightest": "CFTree.decay",
    "forget": "partial_fit",
    "progress": "a terminal shows it",
    "device": "the command line computes on the CPU",
    "chunk_rows": "--max-memory decides",
    "random_state": "Dendrogram.suggest",
    "n_draws": "Dendrogram.suggest",
    "dtype": "of CFTree",
    "leaf": "of Dendrogram",
    "node": "of Dendrogram",
    "cluster": "of Dendrogram",
    "names: node": "of Dendrogram",
    "names: cluster": "of Dendrogram",
    "k": "Dendrogram.sse",
    "orientation": "Dendrogram.plot",
    "cut_line": "Dendrogram.plot",
    "dark": "Dendrogram.colors",
    "radii": "ClusterFeatures.plot",
    "max_clusters": "ClusterTable.plot",
    "max_columns": "ClusterTable.plot",
    "colorbar": "ClusterTable.plot",
    "sample_weight": "fit",
    # numbers in files, which are checked by the same functions
    "file": "a position in a checkpoint",
    "row": "a position in a checkpoint",
    "n_features": "a model file",
    "rows": "a tree file",
    "levels": "a tree file",
    "rebuilds": "a tree file",
}
# Modules that no command reaches, and those that check what Python alone can be given: points, distances, sparse rows.
NOT_FOR_COMMANDS = {"estimator.py", "agglomerative.py", "validation.py", "dendrogram/nodes.py",
                    "plot/scipy_dendrogram.py", "plot/clustermap.py", "plot/summary.py", "linkage/ordering.py",
                    "linkage/cluster.py", "linkage/distances.py", "linkage/sparse.py",
                    "report/explorer.py"}  # fmt: skip
# Messages about what Python alone can be given.
OF_PYTHON = ("Betula(", "read_chunks", "labels or n_clusters", "another name of")


def modules():
    paths = {str(path.relative_to(PACKAGE)): path for path in sorted(PACKAGE.rglob("*.py"))}
    assert paths.keys() >= NOT_FOR_COMMANDS
    return [path for name, path in paths.items() if name not in NOT_FOR_COMMANDS]


def known_parameters():
    """The parameters of everything that the command line calls."""
    called = (AggregateModel.__init__, AggregateModel.recut, AggregateModel.choose_k, sb.Dendrogram.cut,
              sb.CFTree.__init__, sb.read_chunks, sb.write_report)  # fmt: skip
    names = {name for function in called for name in inspect.signature(function).parameters} | {"sample_weight"}
    return names - {"self", "options", "source"} - NOT_OF_COMMANDS.keys()


def errors_in(tree):
    """The calls that make an exception, in `raise` and in functions that return one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and re.search(r"(Error|Parameter)$", ast.unparse(node.func)):
            yield node


def texts_in(node):
    """The literal texts below a node, without the names given to `parameter`."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "parameter":
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    for child in ast.iter_child_nodes(node):
        yield from texts_in(child)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_message_asks_for_the_text_of_every_parameter_it_names(path):
    """Names with a value, and names of two words: others are usual words, such as columns."""
    names = known_parameters()
    named = re.compile(rf"(?<![\w-])(({'|'.join(names)})=|({'|'.join(name for name in names if '_' in name)})\b)")
    messages = [" ".join(texts_in(error)) for error in errors_in(ast.parse(path.read_text()))]
    found = [message for message in messages if named.search(message)]
    assert [message for message in found if not any(words in message for words in OF_PYTHON)] == []


def test_every_parameter_that_a_message_names_has_an_option_or_a_reason_to_have_none():
    named = set()
    for path in modules():
        for call in (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)):
            function = ast.unparse(call.func).rpartition(".")[2]
            position = 0 if function == "parameter" else 1 if function.startswith("as_") else None
            if position is not None and len(call.args) > position and isinstance(call.args[position], ast.Constant):
                named.add(call.args[position].value)
    assert {"max_leaves", "n_clusters", "id_column", "cut.method"} <= named
    known = OPTIONS.keys() | NOT_OF_COMMANDS.keys()
    assert {name for name in named if name not in known and name.rpartition(".")[2] not in known} == set()


def test_cluster_has_every_option_that_messages_name():
    assert set(OPTIONS.values()) <= options_of(grouped(cluster))


def test_python_names_parameters_and_the_command_line_options():
    def texts():
        named = [
            ("max_leaves",),
            ("n_clusters", 900),
            ("mode", "centers"),
            ("force", True),
            ("read_chunks().columns", ...),
        ]
        return [*(parameter(*each) for each in named), parameter("min_size", 20.0), parameter("forget", 2)]

    in_python = "max_leaves n_clusters=900 mode='centers' force=True read_chunks(…, columns=…) min_size=20.0 forget=2"
    assert " ".join(texts()) == in_python
    with in_options():
        assert " ".join(texts()) == "--max-leaves -k 900 --mode centers --force --columns --min-size 20 forget=2"
    assert parameter("max_leaves") == "max_leaves"


def test_words_of_the_user_are_left_as_they_are(tmp_path):
    path = tmp_path / "n_clusters=3 max_leaves.csv"
    path.write_text("max_leaves,n_jobs=4\n1,a\n2,b\n")
    message = command_line("cluster", path, "-k", 2).stderr
    assert str(path) in message
    assert "'n_jobs=4'" in message
    message = command_line("cluster", path, "-k", 3, "--columns", "max_leaves").stderr
    assert message == "Error: -k 3 but there are only 2 different rows: lower -k\n"


MESSAGES = {
    "leaves": (["cluster", "{rows}", "-k", 90, "--max-leaves", 95],
               "-k 90 but there are .* leaves: raise --max-leaves or lower -k"),
    "different rows": (["cluster", "{constant}", "-k", 5], "-k 5 but there is only 1 different row: lower -k"),
    "a linkage of another mode": (["cluster", "{rows}", "-k", 3, "--linkage", "radius"],
                                  "--linkage radius needs --mode aggregation; with --mode linkage it is one of"),
    "threads": (["cluster", "{rows}", "-k", 3, "-j", 0], "--jobs 0: must be"),
    "memory": (["cluster", "{rows}", "-k", 3, "--max-memory", "lots"], "--max-memory lots: write bytes"),
    "a model cut too finely": (["cut", "{model}", "-k", 900],
                               "-k 900 but there are .* leaves: raise --max-leaves of `cluster` or lower -k"),
    "an algorithm of other linkages": (["cluster", "{rows}", "-k", 3, "--algorithm", "mst"],
                                       "--algorithm mst does not compute 'ward' linkage .*: use --algorithm auto"),
    "an output that exists": (["cluster", "{rows}", "-k", 3, "--model", "{model}"],
                              "exists: give another name, or overwrite it by --force"),
    "an id among the columns": (["cluster", "{rows}", "-k", 3, "--columns", "0,1", "--id-column", "1"],
                                "--id-column 1 is also in --columns"),
}  # fmt: skip


WRONG_USAGE = {"a linkage of another mode", "threads", "memory", "an algorithm of other linkages"}


@pytest.mark.parametrize("case", MESSAGES)
def test_a_message_names_options_and_no_parameter(case, tmp_path):
    files = {name: str(tmp_path / name) for name in ("rows.npy", "constant.npy", "model")}
    np.save(files["rows.npy"], np.random.default_rng(0).normal(size=(1000, 2)))
    np.save(files["constant.npy"], np.ones((50, 2)))
    made = command_line("cluster", files["rows.npy"], "-k", 3, "--max-leaves", 100, "--model", files["model"])
    assert made.exit_code == 0
    words, expected = MESSAGES[case]
    values = {name.partition(".")[0]: path for name, path in files.items()}
    result = command_line(*(str(word).format(**values) for word in words))
    assert result.exit_code == (2 if case in WRONG_USAGE else 1)
    message = " ".join(re.sub("[│╭╮╰╯─]", " ", result.stderr).split())
    assert re.search(expected, message), message
    assert not re.search(r"\b(n_clusters|max_leaves|max_memory|n_jobs|\w+=')", message)
