"""Size and complexity of the source tree: counted, not timed.

A comment is what the tokenizer calls one; docstrings do not count. Complexity is the number of
functions that ruff finds above its limits (10 paths, 6 returns, 12 branches).
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from tools.bench.figures import Figure, Round

ROOT = Path(__file__).parents[2]
SHORT = 30
"""A file with fewer lines counts as short."""
CLASSES = ("World", "Spawn", "Player", "WorldEndpoint")
"""Classes whose fields are counted."""
PARTS = {
    "Lua scripts and behaviors": ("world/behaviors", "world/scripts"),
    "content files and what stands in zones": ("content", "world/content", "world/population"),
}
"""Folders whose lines are counted."""
LIMITS = {"C901": 10, "PLR0911": 6, "PLR0912": 12}
"""The rules of ruff that are counted, and the limit of each."""


@cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a file that does not change while this process runs."""
    return ast.parse(path.read_text(encoding="utf-8"))


class Tree:
    """The Python files of a package and what they say of each other."""

    def __init__(self, root: Path, package: str) -> None:
        self.root = root
        self.package = package
        self.paths = sorted((root / package).rglob("*.py"))
        self.texts = {path: path.read_text(encoding="utf-8") for path in self.paths}
        self._trees = {path: parsed(path) for path in self.paths}

    def name(self, path: Path) -> str:
        """Return the path below the root."""
        return path.relative_to(self.root).as_posix()

    def lengths(self) -> dict[str, int]:
        """Return the number of lines of each file."""
        return {self.name(path): text.count("\n") for path, text in self.texts.items()}

    def importers(self) -> dict[str, set[str]]:
        """Return who imports each file; ``__init__.py`` and ``__main__.py`` are left out.

        An import of a name from a package counts for the module that has the name, too, when that
        is a module of its own.
        """
        modules = {self._module(path): path for path in self.paths}
        found = defaultdict[str, set[str]](set)
        for path, tree in self._trees.items():
            for imported in self._imports(path, tree):
                if imported in modules and modules[imported] != path:
                    found[self.name(modules[imported])].add(self.name(path))
        return {
            self.name(path): found[self.name(path)]
            for path in self.paths
            if not path.name.startswith("__")
        }

    def comments(self) -> int:
        """Return the number of comments."""
        count = 0
        for path in self.paths:
            with path.open("rb") as stream:
                tokens = tokenize.tokenize(stream.readline)
                count += sum(token.type == tokenize.COMMENT for token in tokens)
        return count

    def repeated_classes(self) -> dict[str, list[str]]:
        """Return the public names that several classes have, with the files of those."""
        found = defaultdict[str, list[str]](list)
        for path, tree in self._trees.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    found[node.name].append(self.name(path))
        return {name: files for name, files in sorted(found.items()) if len(files) > 1}

    def fields(self) -> dict[str, int]:
        """Return how many fields each of `CLASSES` has that is there."""
        return {
            node.name: len(_fields_of(node))
            for tree in self._trees.values()
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef) and node.name in CLASSES
        }

    def lines_of(self, folders: Iterable[str]) -> int:
        """Return the lines of all files in some folders of the package."""
        starts = tuple(f"{self.package}/{folder}/" for folder in folders)
        return sum(lines for name, lines in self.lengths().items() if name.startswith(starts))

    def complex_functions(self) -> Counter[str]:
        """Return how many functions are above each limit of ruff."""
        done = subprocess.run(
            [sys.executable, "-m", "ruff", "check", "--isolated", "--exit-zero", "--no-cache",
             "--select", ",".join(LIMITS), "--ignore-noqa", "--output-format", "json",
             "--config", f"lint.mccabe.max-complexity={LIMITS['C901']}", self.package],
            cwd=self.root, capture_output=True, check=True,
        )  # fmt: skip
        return Counter(one["code"] for one in json.loads(done.stdout))

    def _module(self, path: Path) -> str:
        parts = path.relative_to(self.root).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def _imports(self, path: Path, tree: ast.AST) -> Iterable[str]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                if node.level:
                    package = path.relative_to(self.root).parent.parts
                    above = package[: len(package) - node.level + 1]
                    base = ".".join([*above, *filter(None, [node.module])])
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names)


def _fields_of(node: ast.ClassDef) -> set[str]:
    """Return the names in a class's slots; without those, its fields and what it assigns."""
    found = set[str]()
    for one in node.body:
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "__slots__":
            return set(ast.literal_eval(one.value))
        if isinstance(one, ast.AnnAssign) and "ClassVar" not in ast.unparse(one.annotation):
            found.add(ast.unparse(one.target))
    found |= {
        part.attr
        for part in ast.walk(node)
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)
        if ast.unparse(part.value) == "self"
    }
    return found - {"_"}  # the mark of named arguments in a dataclass


def figures_of(tree: Tree) -> dict[str, float]:
    """Return every figure by what it is."""
    lengths = tree.lengths()
    complexity = tree.complex_functions()
    importers = tree.importers()
    return {
        "files": len(lengths),
        "lines": sum(lengths.values()),
        "median lines of a file": median(lengths.values()),
        "lines of the longest file": max(lengths.values()),
        f"files under {SHORT} lines": sum(length < SHORT for length in lengths.values()),
        "files with one importer": sum(len(names) == 1 for names in importers.values()),
        "comments per 100 lines": round(100 * tree.comments() / sum(lengths.values()), 2),
        **{f"functions above {limit} ({code})": complexity[code] for code, limit in LIMITS.items()},
        "public class names used more than once": len(tree.repeated_classes()),
        **{f"fields of {name}": count for name, count in sorted(tree.fields().items())},
        **{f"lines of {what}": tree.lines_of(folders) for what, folders in PARTS.items()},
    }


def report(_rounds: int) -> list[Figure]:
    """Count once; nothing varies."""
    counted = figures_of(Tree(ROOT, "emu"))
    return [Figure(what, "", "one", [Round(count, 1)]) for what, count in counted.items()]


def show(console: Console, _rounds: int, *, files: bool = False) -> None:
    """Print the figures, and the files and names behind them when they are wanted."""
    tree = Tree(ROOT, "emu")
    table = Table(title="the source tree below emu/")
    table.add_column("what")
    table.add_column("count", justify="right")
    for what, count in figures_of(tree).items():
        table.add_row(what, f"{count:g}" if count < 1000 else f"{count:,.0f}")
    console.print(table)
    if not files:
        return
    lengths = tree.lengths()
    console.print("\nthe longest files", style="bold")
    for name, length in sorted(lengths.items(), key=lambda one: -one[1])[:20]:
        console.print(f"  {length:5} {name}")
    console.print(f"\nfiles under {SHORT} lines", style="bold")
    for name, length in lengths.items():
        if length < SHORT:
            console.print(f"  {length:5} {name}")
    console.print("\nfiles with one importer", style="bold")
    for name, importers in tree.importers().items():
        if len(importers) == 1:
            console.print(f"  {name}, by {next(iter(importers))}")
    console.print("\npublic class names used more than once", style="bold")
    for name, holders in tree.repeated_classes().items():
        console.print(f"  {name}: {', '.join(holders)}")
