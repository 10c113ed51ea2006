"""Show whether tests notice mistakes: make random ones in the program, one after the other.

    python -m tools.mutate --count 60 --seed 1

A mistake changes one place of a module of `--packages`: an operator, a comparison, a number, a
condition, or a statement that is left out. It is made in a copy of the project, and the tests of
the module run there: those files in the folder that mirrors its own whose names begin with its
name. A mistake is noticed when they fail, or do not end. Each prints a line, and the last line says
the share that was noticed. A mistake that changes nothing that anybody could see lowers the share
as well, so it does not reach 100 %.

`--json FILE` writes the mistakes, and `--only FILE` tries those of such a file that were missed.
With `--folder` all tests of the mirroring folder run: some modules are tested together.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tools.compiled_copy import copy

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("session", "wire", "login", "store", "world", "structs")
LONGEST = 300
"""Seconds after which tests count as failed: the mistake may keep them from ending."""

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*", ast.Div: "*", ast.Mod: "*",
    ast.BitAnd: "|", ast.BitOr: "&", ast.BitXor: "|", ast.LShift: ">>", ast.RShift: "<<",
}  # fmt: skip
COMPARISONS: dict[type[ast.AST], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mistake:
    """One change of a module: the characters `start` to `end` become `text`."""

    path: str
    line: int
    start: int
    end: int
    text: str
    what: str


class Source:
    """The text of a module, and the places of its parts."""

    def __init__(self, path: Path) -> None:
        self._name = str(path.relative_to(ROOT))
        self._lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        self._starts = [0, *itertools.accumulate(map(len, self._lines))]
        self.tree = ast.parse("".join(self._lines))

    def change(self, node: ast.expr | ast.stmt, text: str, what: str) -> Mistake:
        """Return the mistake that puts a text into the place of a node."""
        start = self._place(node.lineno, node.col_offset)
        end = self._place(node.end_lineno or 0, node.end_col_offset or 0)
        return Mistake(self._name, node.lineno, start, end, text, what)

    def _place(self, line: int, column: int) -> int:
        # Columns count the bytes of UTF-8.
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())


def mistakes(path: Path) -> Iterator[Mistake]:
    """Yield every mistake that can be made in the functions of a module."""
    source = Source(path)
    functions = [
        node for node in ast.walk(source.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]  # fmt: skip
    # What types a name has changes nothing while the program runs.
    seen = {part for node in ast.walk(source.tree) for part in _annotation(node)}
    for statement in itertools.chain.from_iterable(function.body for function in functions):
        for node in ast.walk(statement):
            if node not in seen:
                seen.add(node)
                if (found := _wrong_part(node) or _wrong_calculation(node)) is not None:
                    yield source.change(*found)


def _annotation(node: ast.AST) -> Iterator[ast.AST]:
    for name in ("annotation", "returns"):
        annotation = getattr(node, name, None)
        if annotation is not None:
            yield from ast.walk(annotation)


_Change = tuple[ast.expr | ast.stmt, str, str]


def _wrong_calculation(node: ast.AST) -> _Change | None:
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        left, right = ast.unparse(node.left), ast.unparse(node.right)
        return node, f"(({left}) {OPERATORS[type(node.op)]} ({right}))", "operator"
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
        return node, f"(({left}) {COMPARISONS[type(node.ops[0])]} ({right}))", "comparison"
    if isinstance(node, ast.BoolOp):
        joint = " or " if isinstance(node.op, ast.And) else " and "
        return node, f"({joint.join(f'({ast.unparse(one)})' for one in node.values)})", "condition"
    return None


def _wrong_part(node: ast.AST) -> _Change | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        value = not node.value if isinstance(node.value, bool) else node.value + 1
        return node, repr(value), "number"
    if isinstance(node, ast.If | ast.While):
        return node.test, f"(not ({ast.unparse(node.test)}))", "condition"
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Expr | ast.AugAssign | ast.Delete) and not is_text:
        return node, "pass", "left out"
    return None


def tests_of(path: str) -> list[str]:
    """Return the test files of a module, relative to the project."""
    module = Path(path)
    folder = Path("tests", *module.parent.parts[1:])
    stem = module.stem.lstrip("_")
    found = [*(ROOT / folder).glob(f"test_{stem}.py"), *(ROOT / folder).glob(f"test_{stem}_*.py")]
    return sorted(str(one.relative_to(ROOT)) for one in found)


def chosen(count: int, seed: int, packages: list[str]) -> list[Mistake]:
    """Return random mistakes in modules that have tests."""
    paths = [
        path for package in packages for path in sorted((ROOT / "emu" / package).rglob("*.py"))
    ]
    every = [
        mistake
        for path in paths
        if tests_of(str(path.relative_to(ROOT)))
        for mistake in mistakes(path)
    ]
    return random.Random(seed).sample(every, count)


def is_noticed(mistake: Mistake, folder: Path, tests: list[str]) -> bool:
    """Return whether tests fail with a mistake; takes it back afterwards."""
    path = folder / mistake.path
    before = path.read_text(encoding="utf-8")
    path.write_text(before[: mistake.start] + mistake.text + before[mistake.end :], "utf-8")
    words = ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(
            [sys.executable, "-B", *words], cwd=folder, capture_output=True, check=False,
            timeout=LONGEST, env=os.environ | {"PYTHONPATH": str(folder)},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return True
    finally:
        path.write_text(before, "utf-8")
    return done.returncode != 0


def main() -> None:
    parser = argparse.ArgumentParser(description="make random mistakes, and see which tests fail")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--packages", nargs="+", default=PACKAGES)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--only", type=Path, metavar="FILE")
    parser.add_argument("--folder", action="store_true")
    options = parser.parse_args()
    if options.only:
        read = json.loads(options.only.read_text(encoding="utf-8"))
        tried = [Mistake(**one["mistake"]) for one in read if not one["noticed"]]
    else:
        tried = chosen(options.count, options.seed, options.packages)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        copy(Path(folder))
        for mistake in tried:
            tests = tests_of(mistake.path)
            if options.folder:
                tests = sorted({str(Path(one).parent) for one in tests})
            noticed = is_noticed(mistake, Path(folder), tests)
            results.append({"mistake": asdict(mistake), "noticed": noticed})
            word = "noticed" if noticed else "MISSED "
            print(
                f"{word} {mistake.path}:{mistake.line} {mistake.what}: {mistake.text}", flush=True
            )
            if options.json:
                options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    count = sum(one["noticed"] is True for one in results)
    print(f"{count} of {len(results)} noticed, {100 * count / len(results):.0f} %")


if __name__ == "__main__":
    main()
