"""Measure the structure of the world's code: imports, fields, timers, sizes. Nothing is timed.

    python -m tools.measure_world
    python -m tools.measure_world --against 9dcce358

Packages are the folders of `emu/world`; a module beside them counts as a folder of its own. Imports
for types alone are left out. With `--against` the same figures of another commit stand beside.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tools.bench.tree import PARTS, Tree

ROOT = Path(__file__).parent.parent
WORLD = "emu/world"
ORDER = re.compile(r"\[importlinter:contract:world\].*?\nlayers =\n(.*?)\n(?:#|\[|\w|$)", re.DOTALL)


def modules(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield the dotted name and the path of every module of the world."""
    for path in sorted((root / WORLD).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        yield ".".join(part for part in parts if part != "__init__"), path


def folder(module: str) -> str:
    """Return the folder of `emu/world` that a module is in; the module's own name beside them."""
    parts = module.split(".")
    return parts[2] if len(parts) > 2 else ""


def imported(path: Path) -> Iterator[str]:
    """Yield the modules that a file imports while it runs."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def package_imports(root: Path) -> set[tuple[str, str]]:
    """Return the pairs of folders of the world of which one imports the other."""
    known = dict(modules(root))
    found = set()
    for module, path in known.items():
        for other in imported(path):
            pair = folder(module), folder(other)
            if other in known and all(pair) and pair[0] != pair[1]:
                found.add(pair)
    return found


def circles(pairs: set[tuple[str, str]]) -> set[str]:
    """Return the folders that import each other in a circle."""
    reached = {name: {b for a, b in pairs if a == name} for pair in pairs for name in pair}
    grows = True
    while grows:
        grows = False
        for name, others in reached.items():
            more = set().union(*(reached[other] for other in others)) - others
            grows |= bool(more)
            reached[name] = others | more
    return {name for name, others in reached.items() if name in others}


def upward(root: Path, pairs: set[tuple[str, str]]) -> int | None:
    """Return how many of the imports run against the rows of `.importlinter`; None without rows."""
    found = ORDER.search((root / ".importlinter").read_text(encoding="utf-8") + "\n[")
    if found is None or "emu." in found[1]:
        return None
    rows = [re.findall(r"\w+", line) for line in found[1].splitlines() if not line.startswith("#")]
    place = {name: row for row, names in enumerate(rows) for name in names}
    return sum(place.get(a, -1) >= place.get(b, len(rows)) for a, b in pairs)


def count(root: Path, pattern: str, under: str = WORLD) -> int:
    """Return how often a pattern occurs in the sources under a folder."""
    texts = (path.read_text(encoding="utf-8") for path in (root / under).rglob("*.py"))
    return sum(len(re.findall(pattern, text, re.MULTILINE)) for text in texts)


def figures(root: Path) -> dict[str, int | None]:
    """Return every figure of a checkout, by its name."""
    pairs = package_imports(root)
    endpoint = root / "emu/net/world/service.py"
    tree = Tree(root, "emu")
    return {
        "packages in a circle": len(circles(pairs)),
        "imports between packages": len(pairs),
        "of these upward": upward(root, pairs),
        "handlers of OP_DialogSelectMsg": count(
            root, r"\.add(?:_handler)?\(\s*\"OP_DialogSelectMsg\""
        ),
        "places that compare a line with a hail": count(root, r"startswith\(HAIL\)|== HAIL\b"),
        **{f"fields of {name}": number for name, number in sorted(tree.fields().items())},
        "get_timer and handle_timer": count(root, r"^    def (?:get|handle)_timer\("),
        "imports of net/world/service.py": len(
            re.findall(r"^(?:from|import) ", endpoint.read_text(encoding="utf-8"), re.MULTILINE)
        ),
        **{f"lines of {what}": tree.lines_of(folders) for what, folders in PARTS.items()},
    }


def checkout(commit: str, folder: Path) -> Path:
    """Write a commit's files into a folder, and return it."""
    archive = subprocess.run(
        ["git", "-C", ROOT, "archive", commit], check=True, capture_output=True
    ).stdout  # fmt: skip
    subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
    return folder


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Measure the structure of the world's code.")
    parser.add_argument("--against", metavar="COMMIT", help="show another commit beside")
    given = parser.parse_args()
    columns = {"here": figures(ROOT)}
    if given.against:
        with tempfile.TemporaryDirectory() as folder:
            columns = {given.against: figures(checkout(given.against, Path(folder)))} | columns
    table = Table("", *columns, title="the structure of the world")
    for name in columns["here"]:
        shown = (column[name] for column in columns.values())
        table.add_row(name, *("-" if value is None else str(value) for value in shown))
    Console().print(table)


if __name__ == "__main__":
    main()
