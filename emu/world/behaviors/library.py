"""Where behaviors come from: what ships, installed packages, and a folder of the configuration.

A package offers behaviors as entry points of the group ``emu.behaviors``. In the folder every
``*.py`` file is a module; its public classes are behaviors by their name in lower case with
underscores (``TownCrier`` is ``town_crier``). What is found later wins.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator, Mapping
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Final, NamedTuple

import emu
from emu.errors import FileFormatError
from emu.files import listed, read_whole
from emu.world.behaviors import plain
from emu.world.behaviors.guard import Budget, unguarded
from emu.world.behaviors.shipped import greeter, teleporter, wanderer

GROUP: Final = "emu.behaviors"
HANDLERS: Final = (
    "on_start", "on_enter", "on_leave", "on_hail", "on_say", "on_choice", "on_timer", "on_tick",
    "on_arrive",
)  # fmt: skip
LONGEST_DOC: Final = 2000
LONGEST_VERSION: Final = 40
"""Letters that are read of a docstring and of a version."""
LOADING: Final = 2.0
"""Seconds that loading a file, with all it imports, may take."""
SHIPPED: Final = (greeter, wanderer, teleporter)


class Description(NamedTuple):
    """What is told of a behavior: the first line of its docstring, and its version if it has one.

    The version of one that comes with the program is the program's.
    """

    title: str
    version: str


class Library:
    """Behaviors by name; `problems` says what could not be loaded, a line each."""

    def __init__(self, folder: Path | None = None, budget: Budget | None = None) -> None:
        """Load them; `budget` is what each file may take."""
        self.folder = folder
        self._budget = budget or Budget(LOADING, unguarded, lambda: 0.0)
        self.problems: list[str] = []
        self.has_others = False
        """Whether there may be other people's code here, besides what comes with the program."""
        self._classes: dict[str, type] = {}
        self.reload()

    def __iter__(self) -> Iterator[str]:
        """All names, sorted."""
        return iter(sorted(self._classes))

    def find(self, name: str) -> type | None:
        """Return a behavior's class."""
        return self._classes.get(name)

    def describe(self, name: str) -> Description:
        """Return what is told of a behavior; of one that cannot be described, its name."""
        behavior = self.find(name)
        found: list[Description] = []
        problem = self._budget.spend(lambda: found.append(describe(name, behavior)))
        return Description(name, "") if problem or not found else found[0]

    def reload(self) -> None:
        """Look everywhere again; files are read anew."""
        self.problems = []
        found: dict[str, type] = {}
        for module in SHIPPED:
            found |= behaviors_of(module)
        installed = self._installed()
        self.has_others = bool(installed) or self.folder is not None
        found |= installed
        if self.folder is not None:
            found |= self._in_folder(self.folder)
        self._classes = found

    def _installed(self) -> Mapping[str, type]:
        found: dict[str, type] = {}
        for entry in entry_points(group=GROUP):
            problem = self._budget.spend(partial(_load, entry, found))
            if problem:
                self.problems.append(f"behavior {entry.name} ({entry.value}): {problem}")
        return found

    def _in_folder(self, folder: Path) -> Mapping[str, type]:
        found: dict[str, type] = {}
        try:
            for path in listed(folder, ".py", "world.behaviors"):
                found |= self._in_file(path)
        except FileFormatError as error:
            self.problems.append(str(error))
        return found

    def _in_file(self, path: Path) -> Mapping[str, type]:
        spec = importlib.util.spec_from_file_location(f"emu_behaviors.{path.stem}", path)
        if spec is None or spec.loader is None:
            return {}
        module = importlib.util.module_from_spec(spec)

        found: dict[str, type] = {}

        def execute() -> None:
            # Compiled from the text each time: a stamp in a cache can be as old as the change.
            code = compile(read_whole(path), str(path), "exec")
            exec(code, module.__dict__)  # noqa: S102  # the operator's own code
            found.update(behaviors_of(module))

        problem = self._budget.spend(execute)
        if problem:
            self.problems.append(f"{path.name}: {problem}")
            return {}
        return found


def _load(entry: EntryPoint, found: dict[str, type]) -> None:
    found[entry.name] = entry.load()


def behaviors_of(module: ModuleType) -> dict[str, type]:
    """Return the behaviors that a module defines: its public classes that handle something."""
    return {
        snake_case(name): value
        for name, value in vars(module).items()
        if isinstance(value, type)
        and not name.startswith("_")
        and value.__module__ == module.__name__
        and any(hasattr(value, handler) for handler in HANDLERS)
    }


def describe(name: str, behavior: object) -> Description:
    """Describe a behavior's class. This may run code of whoever wrote it."""
    doc = getattr(behavior, "__doc__", None)
    lines = plain.text(doc, "a docstring", LONGEST_DOC, lines=True).split("\n") if doc else []
    title = next((line.strip() for line in lines if line.strip()), name)
    package = str(getattr(behavior, "__module__", "") or "").partition(".")[0]
    if package == "emu":
        return Description(title, emu.__version__)
    version = str(getattr(behavior, "version", ""))
    return Description(title, plain.text(version, "a version", LONGEST_VERSION))


def snake_case(name: str) -> str:
    """Return a class's name as behaviors are called: ``TownCrier`` is ``town_crier``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
