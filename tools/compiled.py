"""Build the optional compiled form: session, wire and UDP by mypyc, datagrams in C.

`python tools/compiled.py ROOT` compiles a tree in place (pass a copy). The build hook compiles into
a wheel when EMU_COMPILE=1. The pure form is the source and the default; both pass the same tests.
Needs a C compiler, Python's headers, and mypy with mypyc.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

COMPILED: Final = ("emu/wire", "emu/session")
"""Packages whose modules are compiled."""
SINGLE: Final = (
    "emu/net/scheduler.py",
    "emu/net/udp/dispatcher.py",
    "emu/net/udp/session_port.py",
)
LEFT: Final = frozenset(("__init__.py", "configuration.py", "moves.py"))
"""Not compiled: package interfaces, and settings, which inspect their fields and are read once.

`moves.py` has generic dataclasses with slots, which mypyc cannot make; few datagrams reach it.
"""
FLAGS: Final = ("--config-file=", "--explicit-package-bases", "--ignore-missing-imports")
"""For mypy: the project's own settings name plugins that the compiled modules do not need.

Some libraries that they import have no types; whoever installs has no stubs for them.
"""
IN_C: Final = {"emu.net.udp._datagrams": "emu/net/udp/_datagrams.c"}


def required(root: Path) -> list[str]:
    """Return what compiling needs: the group `compile`, and the libraries whose types are read."""
    with (root / "pyproject.toml").open("rb") as stream:
        project = tomllib.load(stream)
    return [*project["dependency-groups"]["compile"], *project["project"]["dependencies"]]


def modules(root: Path) -> list[str]:
    """Return the files that are compiled, below `root`."""
    found = [
        path.relative_to(root).as_posix()
        for package in COMPILED
        for path in sorted((root / package).rglob("*.py"))
        if path.name not in LEFT
    ]
    return [*found, *SINGLE]


def build(root: Path, target: Path, *, level: str = "3") -> list[Path]:
    """Compile what is below `root`; returns the extension modules, laid out below `target`."""
    from mypyc.build import mypycify  # only those who compile have it
    from setuptools import Distribution, Extension

    with _working_in(root):
        # Nobody has a debugger for the C code, and its data take a fifth of the compiler's time.
        extensions = mypycify([*FLAGS, *modules(root)], opt_level=level, debug_level="0")
        extensions += [Extension(name, [source]) for name, source in IN_C.items()]
        distribution = Distribution({"name": "eq2emu", "ext_modules": extensions})
        command = distribution.get_command_obj("build_ext")
        command.build_lib = str(target)
        command.build_temp = str(target / "objects")
        command.parallel = os.cpu_count()
        command.ensure_finalized()
        command.run()
    return sorted(path for path in target.rglob("*.so") if "objects" not in path.parts)


@contextmanager
def _working_in(folder: Path) -> Iterator[None]:
    """Stand in a folder: mypyc takes its place in the tree from where it is."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


if __name__ == "__main__":
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    for made in build(tree, tree):
        print(made.relative_to(tree))
