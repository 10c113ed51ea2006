"""Finds the classes of behaviors: the shipped ones, installed packages, and the operator's folder.

A package offers behaviors as entry points of the group ``emu.behaviors``. In the folder every
``*.py`` file is a module, and each of its public classes with a hook is a behavior. Its name is the
class's name in lower case with underscores: ``TownCrier`` is ``town_crier``. If a name exists
twice, the later of these three sources wins.
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
from emu.world.behaviors.hooks import Hook
from emu.world.behaviors.shipped import greeter, teleporter, wanderer

GROUP: Final = "emu.behaviors"
LONGEST_DOC: Final = 2000
"""Characters of a docstring that are read."""
LONGEST_VERSION: Final = 40
"""Characters of a version that are read."""
LOADING: Final = 2.0
"""Seconds that loading a file, with everything it imports, may take."""
SHIPPED: Final = (greeter, wanderer, teleporter)


class Description(NamedTuple):
    """A behavior as lists show it: the first line of its docstring, and its version or "".

    A shipped behavior has the version of the program.
    """

    title: str
    version: str


class Library:
    """Classes of behaviors by name; `problems` has a line for each file that did not load."""

    def __init__(self, folder: Path | None = None, budget: Budget | None = None) -> None:
        """Load all classes; `budget` limits the loading of one file."""
        self.folder = folder
        self._budget = budget or Budget(LOADING, unguarded, lambda: 0.0)
        self.problems: list[str] = []
        self.has_others = False
        """Whether packages or a folder can add code that is not the server's."""
        self._classes: dict[str, type] = {}
        self.reload()

    def __iter__(self) -> Iterator[str]:
        """Iterate over all names in order."""
        return iter(sorted(self._classes))

    def find(self, name: str) -> type | None:
        """Return the class of a name, None for an unknown name."""
        return self._classes.get(name)

    def describe(self, name: str) -> Description:
        """Return a behavior's description; only its name if reading the rest fails."""
        behavior = self.find(name)
        found: list[Description] = []
        problem = self._budget.spend(lambda: found.append(describe(name, behavior)))
        return Description(name, "") if problem or not found else found[0]

    def reload(self) -> None:
        """Find and load all classes again."""
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
            # A cached .pyc is not used: two changes within one second have the same time stamp.
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
    """Return the behaviors that a module defines: its public classes with at least one hook."""
    return {
        snake_case(name): value
        for name, value in vars(module).items()
        if isinstance(value, type)
        and not name.startswith("_")
        and value.__module__ == module.__name__
        and any(hasattr(value, hook.method) for hook in Hook)
    }


def describe(name: str, behavior: object) -> Description:
    """Describe a behavior's class. This can run the behavior's code; call it inside the guard."""
    doc = getattr(behavior, "__doc__", None)
    lines = plain.text(doc, "a docstring", LONGEST_DOC, lines=True).split("\n") if doc else []
    title = next((line.strip() for line in lines if line.strip()), name)
    package = str(getattr(behavior, "__module__", "") or "").partition(".")[0]
    if package == "emu":
        return Description(title, emu.__version__)
    version = str(getattr(behavior, "version", ""))
    return Description(title, plain.text(version, "a version", LONGEST_VERSION))


def snake_case(name: str) -> str:
    """Return the behavior's name for a class's name: ``town_crier`` for ``TownCrier``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
