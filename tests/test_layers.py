"""What the layering contract cannot say: which packages may know the outside world at all."""

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tools.bench.tree import Tree, parsed

MOST_SHARED_NAMES = 5
EMU = Path(__file__).parent.parent / "emu"
OUTSIDE = {"twisted", "asyncio", "socket", "sqlite3", "sqlite_utils", "time", "random", "secrets",
           "threading", "select", "subprocess"}  # fmt: skip
PURE = (
    "admin",
    "limits",
    "processes",
    "wire",
    "session",
    "structs",
    "link",
    "login",
    "world",
    "client",
)


pytestmark = pytest.mark.slow  # reads every source; `make quick` has the contract of the layers


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Return everything that a module's source is made of."""
    return tuple(ast.walk(parsed(path)))


def imports_of(path: Path) -> set[str]:
    names: set[str] = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("package", PURE)
def test_pure_packages_know_no_clock_socket_or_reactor(package: str) -> None:
    for path in (EMU / package).rglob("*.py"):
        found = imports_of(path) & OUTSIDE
        assert not found, f"{path}: imports {found}"


def test_twisted_is_known_only_to_the_shells() -> None:
    for path in EMU.rglob("*.py"):
        relative = str(path.relative_to(EMU))
        if relative.startswith(("net/", "cli/")) or relative == "tap.py":
            continue
        assert "twisted" not in imports_of(path), relative


def names_in(path: Path) -> set[str]:
    """Return every name and attribute that a module mentions."""
    return {getattr(node, "attr", getattr(node, "id", "")) for node in nodes_of(path)}


def test_delayed_calls_are_made_in_one_place() -> None:
    for path in EMU.rglob("*.py"):
        if path.relative_to(EMU) != Path("net/scheduler.py"):
            found = names_in(path) & {"callLater", "LoopingCall", "deferLater"}
            assert not found, f"{path}: {found}"


CLOCKS = {
    "time": ("time.time",),
    "monotonic": ("time.monotonic",),
    "perf_counter": ("time.perf_counter",),
    "now": ("datetime.now",),
}
"""The calls that read a clock, by their last word."""


def test_clocks_are_read_in_one_place() -> None:
    readers = {
        "net/scheduler.py": "both times, for all that runs",
        "net/logs.py": "the wall clock of a line, and the time between two looks at the file",
        "cli/options.py": "the wall clock, for one command",
        "net/machine.py": "every clock of a server; a simulation brings another machine",
        "cli/common.py": "the wall clock of an act in the audit",
        "net/udp/session_port.py": "how long serving a session took, unless a test gives a clock",
        "opcodes/store.py": "the wall clock, for the history of edits",
        "scripts/own_time.py": "how long a call of a script takes, for its guard",
        "store/eq2emu.py": "how long an import kept others from writing",
    }
    for path in EMU.rglob("*.py"):
        if str(path.relative_to(EMU)) not in readers:
            for node in nodes_of(path):
                if isinstance(node, ast.Attribute) and node.attr in CLOCKS:
                    assert ast.unparse(node) not in CLOCKS[node.attr], f"{path}: {node.lineno}"


GAME = ("world", "quests", "spells", "items", "rules")


def test_the_world_compares_client_versions_with_tables_alone() -> None:
    """A number in the code would be one more difference that data/world/versions.toml lacks."""

    def is_number(node: ast.expr) -> bool:
        return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id.isupper())

    for path in (one for folder in GAME for one in (EMU / folder).rglob("*.py")):
        for node in nodes_of(path):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                names = {ast.unparse(side).rpartition(".")[2] for side in sides}
                compared = "version" in names and any(map(is_number, sides))
                assert not compared, f"{path}, line {node.lineno}: {ast.unparse(node)}"


def test_no_file_needs_one_that_needs_it() -> None:
    """Imports for types alone and those inside functions count as well."""
    files = {dotted(path): path for path in EMU.rglob("*.py")}
    needs = {name: modules_needed(path, name, files) for name, path in files.items()}
    order = TopologicalSorter(needs)
    try:
        order.prepare()
    except CycleError as error:
        raise AssertionError(" needs ".join(reversed(error.args[1]))) from None


def test_classes_that_are_imported_together_have_names_of_their_own() -> None:
    """A reader of one file must not meet two classes of one name, its packages' included."""
    files = {dotted(path): path for path in EMU.rglob("*.py")}
    shown = {name: classes_shown(name, files) for name in files}
    for name, path in files.items():
        met: dict[str, str] = {}
        for module in sorted({name, *modules_needed(path, name, files)}):
            for kind, home in shown[module].items():
                assert met.setdefault(kind, home) == home, f"{name}: {kind} of {met[kind]}, {home}"


def test_few_public_classes_share_a_name() -> None:
    """A name that is searched for leads to one class."""
    repeated = Tree(EMU.parent, "emu").repeated_classes()
    assert len(repeated) <= MOST_SHARED_NAMES, repeated


def classes_shown(name: str, files: dict[str, Path]) -> dict[str, str]:
    """Return a module's public classes, each with its home; a package shows what it imports."""
    tree = nodes_of(files[name])[0]
    assert isinstance(tree, ast.Module)
    shown: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            shown[node.name] = name
        elif (
            isinstance(node, ast.ImportFrom)
            and files[name].name == "__init__.py"
            and node.module in files.keys() - {name}
        ):
            inner = classes_shown(node.module, files)
            shown |= {a.name: inner[a.name] for a in node.names if a.name in inner}
    return shown


def dotted(path: Path) -> str:
    parts = path.relative_to(EMU.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules_needed(path: Path, name: str, files: dict[str, Path]) -> set[str]:
    """Return the modules of ours that a file imports; of a name out of a package, its module."""
    needed: set[str] = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            needed.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                needed.add(whole if whole in files else node.module)
    return (needed & set(files)) - {name}
