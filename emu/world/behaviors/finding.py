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
from typing import Final

from emu.documents import listed, read_whole
from emu.errors import FileFormatError
from emu.world.behaviors.budget import Budget, unguarded
from emu.world.behaviors.shipped import greeter, teleporter, wanderer

GROUP: Final = "emu.behaviors"
HANDLERS: Final = (
    "on_start", "on_enter", "on_leave", "on_hail", "on_say", "on_choice", "on_timer", "on_tick",
    "on_arrive",
)  # fmt: skip
LOADING: Final = 2.0
"""Seconds that loading a file, with all it imports, may take."""
SHIPPED: Final = (greeter, wanderer, teleporter)


class Library:
    """Behaviors by name; `problems` says what could not be loaded, a line each."""

    def __init__(self, folder: Path | None = None, budget: Budget | None = None) -> None:
        """Load them; `budget` is what each file may take."""
        self.folder = folder
        self._budget = budget or Budget(LOADING, unguarded, lambda: 0.0)
        self.problems: list[str] = []
        self._classes: dict[str, type] = {}
        self.reload()

    def __iter__(self) -> Iterator[str]:
        """All names, sorted."""
        return iter(sorted(self._classes))

    def find(self, name: str) -> type | None:
        """Return a behavior's class."""
        return self._classes.get(name)

    def reload(self) -> None:
        """Look everywhere again; files are read anew."""
        self.problems = []
        found: dict[str, type] = {}
        for module in SHIPPED:
            found |= behaviors_of(module)
        found |= self._installed()
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

        def execute() -> None:
            # Compiled from the text each time: a stamp in a cache can be as old as the change.
            code = compile(read_whole(path), str(path), "exec")
            exec(code, module.__dict__)  # noqa: S102  # the operator's own code

        problem = self._budget.spend(execute)
        if problem:
            self.problems.append(f"{path.name}: {problem}")
            return {}
        return behaviors_of(module)


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


def snake_case(name: str) -> str:
    """Return a class's name as behaviors are called: ``TownCrier`` is ``town_crier``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
