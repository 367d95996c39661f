"""The direction of includes and imports: a room uses the rooms below it, never those above."""

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# A file includes its own room and the rooms named before it. The door includes all rooms of linkage/, and only the
# bindings include the door.
DOOR = "linkage/cluster"
CPP_ROOMS = (
    *("base", "simd", "features", "tree/kernels", "tree", "filter", "index", "nearest", "linkage"),
    *("linkage/reference", "linkage/indexed", "linkage/points", "linkage/blocked", "linkage/ordering", DOOR),
)
NOT_IN_THE_CORE = r"Python\.h|nanobind/|numpy/"

# The rooms that a room imports when it is imported itself; all may import the ground.
GROUND = "_core errors names wording machine progress checks directions remote"
NOUNS = "features tree linkage dendrogram model estimator"
WATCHED = ("sklearn", "benchmarks", "experiments")  # packages outside that not every room may import
PYTHON_ROOMS = {
    "errors": "",
    "names": "",
    "wording": "",
    "machine": "",
    "progress": "",
    "checks": "",
    "directions": "",
    "remote": "",
    "gpu": "",
    "rows": "directions gpu",
    "saved": "",
    "features": "saved",
    "tree": "features rows saved",
    "linkage": "features gpu",
    "dendrogram": "features linkage saved",
    "model": "rows gpu features tree linkage dendrogram",
    "validation": "rows sklearn",
    "estimator": "rows features model saved validation sklearn",
    "agglomerative": "rows linkage validation sklearn",
    "storage": "rows features tree linkage dendrogram model",
    "pipeline": f"rows {NOUNS} storage sklearn",
    "plot": "rows features tree linkage dendrogram model",
    "report": f"rows {NOUNS} storage plot",
    "engines": f"rows {NOUNS} storage pipeline sklearn",
    "dask": f"rows {NOUNS} storage pipeline engines sklearn",
    "spark": f"rows {NOUNS} storage pipeline engines sklearn",
    "demo": f"{NOUNS} storage",
    "cli": f"directions rows {NOUNS} pipeline engines storage plot",
    "__init__": "",
    "__main__": "",
}
# And those that it imports only inside its functions: `save` is a method, while storage knows the classes.
LAZY_IMPORTS = {
    "saved": "storage",
    "features": "rows plot",
    "linkage": "rows",
    "tree": "storage",
    "dendrogram": "plot report",
    "model": "plot report",
    "estimator": "report",
    "storage": "estimator pipeline sklearn",
    "report": "sklearn",
    "demo": "plot report sklearn",
    "cli": "demo report",
    "__init__": f"rows {NOUNS} storage agglomerative plot report",
    "__main__": "cli storage",
}

KNOWN: set[str] = set()


def room_of_file(path: str) -> str:
    """The folder of a C++ file; the door is a room of its own."""
    return DOOR if path.rpartition(".")[0] == DOOR else path.rpartition("/")[0]


def includes(core: Path) -> dict[str, list[str]]:
    """The includes of each C++ file, relative to the core."""
    return {
        str(path.relative_to(core)): re.findall(r'^\s*#\s*include\s*[<"](.*?)[>"]', path.read_text(), re.MULTILINE)
        for path in sorted(core.rglob("*.?pp"))
    }


def wrong_includes(core: Path) -> list[str]:
    wrong, graph = [], {}
    for file, included in includes(core).items():
        if room_of_file(file) not in CPP_ROOMS:
            wrong.append(f"{file} is in no room")
            continue
        wrong += [f"{file} includes {header}" for header in included if re.match(NOT_IN_THE_CORE, header)]
        graph[file] = [header.removeprefix("silverbirch/") for header in included if header.startswith("silverbirch/")]
        allowed = CPP_ROOMS[: CPP_ROOMS.index(room_of_file(file)) + 1]
        wrong += [f"{file} includes {header}" for header in graph[file] if room_of_file(header) not in allowed]
    return wrong + cycles(graph)


def imports(package: Path) -> list[tuple[str, str, bool]]:
    """(module, what it imports, whether only in a function or for types), all named from the package on."""
    paths = {".".join(folder_and_name(path, package)): path for path in sorted(package.rglob("*.py"))}
    found = []
    for module, path in paths.items():
        folder = path.relative_to(package).parts[:-1]
        for node, lazy in import_statements(ast.parse(path.read_text(encoding="utf-8"))):
            found += [(module, name, lazy) for name in imported(node, folder, {*paths, "_core"})]
    return found


def folder_and_name(path: Path, package: Path) -> tuple[str, ...]:
    parts = path.relative_to(package).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" and parts[:-1] else parts


def import_statements(tree: ast.AST, lazy: bool = False) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, lazy
        in_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for_types = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        yield from import_statements(node, lazy or in_function or for_types)


def imported(node: ast.Import | ast.ImportFrom, folder: tuple[str, ...], modules: set[str]) -> list[str]:
    if isinstance(node, ast.Import):
        return [own_or_outside(alias.name) for alias in node.names]
    if not node.level and (node.module or "").partition(".")[0] != "silverbirch":
        return [own_or_outside(node.module or "")]
    base = [*folder[: len(folder) + 1 - node.level]] if node.level else []
    base += (node.module or "").removeprefix("silverbirch").split(".")
    names = [".".join(filter(None, [*base, alias.name])) for alias in node.names if alias.name != "__version__"]
    return [name if name in modules else name.rpartition(".")[0] or "__init__" for name in names]


def own_or_outside(name: str) -> str:
    """A module named from the package on. One outside, such as dask, may have the name of one of ours."""
    own, _, rest = name.partition(".")
    return rest or "__init__" if own == "silverbirch" else name if own in WATCHED else f"outside:{name}"


def room_of_module(name: str) -> str:
    return name.partition(".")[0]


def wrong_imports(package: Path) -> list[str]:
    wrong, graph = [], {}
    for module, name, lazy in imports(package):
        room, other = room_of_module(module), room_of_module(name)
        if room not in PYTHON_ROOMS:
            wrong.append(f"{module} is in no room")
        elif other == room or other not in {*PYTHON_ROOMS, *WATCHED}:
            pass
        elif other not in f"{PYTHON_ROOMS[room]} {GROUND} {LAZY_IMPORTS.get(room, '') if lazy else ''}".split():
            wrong.append(f"{module} imports {name}{' in a function' if lazy else ''}")
        if not lazy:
            graph.setdefault(module, []).append(name)
    return list(dict.fromkeys(wrong)) + cycles(graph)


def cycles(graph: dict[str, list[str]]) -> list[str]:
    """One cycle of the graph, if it has any."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [" → ".join(reversed(error.args[1]))]
    return []


def test_includes_and_imports_go_down():
    wrong = wrong_includes(ROOT / "cpp" / "silverbirch") + wrong_imports(ROOT / "src" / "silverbirch")
    assert sorted({*wrong} - KNOWN) == []
    assert sorted(KNOWN - {*wrong}) == []  # mended: take it off the list


def test_every_declared_room_exists():
    core, package = ROOT / "cpp" / "silverbirch", ROOT / "src" / "silverbirch"
    assert all((core / room).is_dir() for room in CPP_ROOMS if room != DOOR)
    assert all((package / room).is_dir() or (package / f"{room}.py").is_file() for room in PYTHON_ROOMS)
    assert set(LAZY_IMPORTS) <= set(PYTHON_ROOMS)


def drawn_rooms(page: str) -> set[str]:
    """The folders and modules of the drawing: `names  what they are`, indented like the folders they are in."""
    drawing = page.partition("## The rooms")[2].partition("```\n")[2].partition("```")[0]
    rooms, above = set(), []
    for line in drawing.splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        for name in line.strip().partition("  ")[0].split():
            room = "".join(above[:depth]) + name
            rooms.add(room if name.endswith("/") else f"{room}.py")
            above[depth:] = [name]
    return rooms


def test_contributing_draws_every_room_and_no_other():
    drawn = drawn_rooms((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert [room for room in sorted(drawn) if not (ROOT / room).exists()] == []
    core = {f"{path.parent.relative_to(ROOT)}/" for path in ROOT.glob("cpp/silverbirch/**/*.hpp")}
    package = {f"{path.parent.relative_to(ROOT)}/" for path in ROOT.glob("src/silverbirch/**/*.py")}
    modules = {str(path.relative_to(ROOT)) for path in ROOT.glob("src/silverbirch/[!_]*.py")}
    assert sorted((core | package | modules) - drawn) == []


def house(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("file", "header", "right"),
    [
        ("tree/cf_tree.hpp", "silverbirch/features/features.hpp", True),
        ("features/features.hpp", "silverbirch/tree/cf_tree.hpp", False),
        ("linkage/points/points.hpp", "silverbirch/linkage/duplicates.hpp", True),
        ("linkage/points/points.hpp", "silverbirch/linkage/cluster.hpp", False),
        ("linkage/cluster.cpp", "silverbirch/linkage/points/points.hpp", True),
        ("base/parallel.hpp", "nanobind/nanobind.h", False),
        ("base/parallel.hpp", "thread", True),
    ],
)
def test_an_include_that_is_turned_round_is_reported(tmp_path, file, header, right):
    core = house(tmp_path, {file: f'#pragma once\n#include "{header}"\n'})
    assert wrong_includes(core) == ([] if right else [f"{file} includes {header.removeprefix('silverbirch/')}"])


def test_files_that_include_each_other_and_files_outside_all_rooms_are_reported(tmp_path):
    files = {f"base/{a}.hpp": f'#include "silverbirch/base/{b}.hpp"\n' for a, b in ("ab", "bc", "ca")}
    wrong = wrong_includes(house(tmp_path, files | {"cellar/wine.hpp": "", "misc.hpp": ""}))
    assert wrong[:2] == ["cellar/wine.hpp is in no room", "misc.hpp is in no room"]
    assert {*wrong[2].split(" → ")} == {*files}


@pytest.mark.parametrize(
    ("module", "line", "wrong"),
    [
        ("tree.py", "from .features import ClusterFeatures", None),
        ("features.py", "from .tree import CFTree", "features imports tree"),
        ("features.py", "import silverbirch.tree", "features imports tree"),
        ("features.py", "from silverbirch.tree import CFTree", "features imports tree"),
        ("features.py", "from silverbirch import CFTree", "features imports __init__"),
        ("tree.py", "from . import linkage", "tree imports linkage"),
        ("linkage.py", "from .rows.chunk import Chunk", "linkage imports rows.chunk"),
        ("linkage.py", "def f():\n  from sklearn import base", "linkage imports sklearn in a function"),
        ("tree.py", "from .storage.container import write", "tree imports storage.container"),
        ("tree.py", "def save():\n  from .storage.container import write", None),
        ("storage/container.py", "from ..tree import CFTree", None),
        ("storage/container.py", "from ..cli import app", "storage.container imports cli"),
        ("storage/container.py", "from .. import __version__, _core", None),
        ("rows/chunk.py", "def f():\n  from .. import tree", "rows.chunk imports tree in a function"),
        ("cellar.py", "from . import tree", "cellar is in no room"),
        ("tree.py", "import rows", None),
        ("features.py", "import tree.branches", None),
    ],
)
def test_an_import_that_is_turned_round_is_reported(tmp_path, module, line, wrong):
    empty = dict.fromkeys(("features.py", "tree.py", "linkage.py", "rows/chunk.py", "storage/container.py"), "")
    assert wrong_imports(house(tmp_path, empty | {module: line})) == ([] if wrong is None else [wrong])


def test_modules_that_import_each_other_are_reported(tmp_path):
    files = {"rows/a.py": "from .b import x", "rows/b.py": "from . import a"}
    assert len(wrong_imports(house(tmp_path, files))) == 1
    files["rows/b.py"] = "def f():\n  from . import a"
    assert wrong_imports(house(tmp_path, files)) == []
