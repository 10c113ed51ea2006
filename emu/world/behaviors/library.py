"""Finds the classes of behaviors: the shipped ones, installed packages, and the operator's folder.

A package offers behaviors as entry points of the group ``emu.behaviors``. In the folder every
``*.py`` file is a module, and each of its public classes with a hook is a behavior. Its name is the
class's name in lower case with underscores: ``TownCrier`` is ``town_crier``. If a name exists
twice, the later of these three sources wins.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple

import emu
from emu.errors import FileFormatError
from emu.files import listed, read_whole
from emu.schema import TableFault, TableFaults, unknown_key
from emu.world.behaviors.faults import class_faults, making_fault
from emu.world.behaviors.hooks import Hook
from emu.world.behaviors.options import read_options, zones_named
from emu.world.behaviors.shipped import greeter, teleporter, wanderer
from emu.world.minds import plain
from emu.world.minds.guard import LONGEST_REASON, Budget, unguarded

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
        # A docstring may be any object of the behavior, so it is read inside the guard.
        problem = self._budget.spend(lambda: found.append(describe(name, behavior)))
        return Description(name, "") if problem or not found else found[0]

    def faults(
        self, name: str, options: Mapping[str, Any], is_zone: Callable[[str], bool]
    ) -> Sequence[TableFault]:
        """Return the faults of a behavior's name and options as a zone file has them.

        `is_zone` decides whether a zone of a name exists.
        """
        behavior = self.find(name)
        if behavior is None:
            return [TableFault(("behavior",), unknown_key(name, list(self), f"behavior {name!r}"))]
        found: list[TableFault] = []

        def check() -> None:
            unmade = making_fault(behavior)
            if unmade:
                found.append(TableFault(("behavior",), unmade))
            try:
                read = read_options(behavior, options)
            except TableFaults as error:
                texts = [plain.text(one.text, "a fault", LONGEST_REASON) for one in error.faults]
                for fault, text in zip(error.faults, texts, strict=True):
                    found.append(TableFault(("behavior_options", *fault.path), text))
                return
            for key, zone in zones_named(behavior, read).items():
                if not is_zone(zone):
                    text = f"there is no zone {zone!r}; use a zone's name, file or number"
                    found.append(TableFault(("behavior_options", key), text))

        # The options are read by code of the behavior's class, so this runs in the guard.
        reason = self._budget.spend(check)
        return [TableFault(("behavior",), f"{name}: {reason}")] if reason else found

    def reload(self) -> bool:
        """Find and load all classes again; return False if the previous ones stay.

        They stay if a file of the folder does not load, except at the first time.
        """
        self.problems = []
        found: dict[str, type] = {}
        for module in SHIPPED:
            found |= behaviors_of(module)
        installed = self._installed()
        found |= installed
        # Faults of packages do not keep the operator's folder from loading.
        known = len(self.problems)
        if self.folder is not None:
            found |= self._in_folder(self.folder)
        # At the first time there are no earlier classes that could stay.
        if self._classes and len(self.problems) > known:
            return False
        self.has_others = bool(installed) or self.folder is not None
        # Replaced as a whole at the end: while files load, the old classes can still be found.
        self._classes = found
        return True

    def _installed(self) -> Mapping[str, type]:
        found: dict[str, type] = {}
        for entry in entry_points(group=GROUP):
            # Importing a package runs its code, so it is guarded like a call.
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
        # It is not added to `sys.modules`: a reload must not find the old module, and two files
        # must not meet.
        module = importlib.util.module_from_spec(spec)

        found: dict[str, type] = {}

        def execute() -> None:
            # A cached .pyc is not used: two changes within one second have the same time stamp.
            code = compile(read_whole(path), str(path), "exec")
            exec(code, module.__dict__)  # noqa: S102  # the operator's own code
            found.update(behaviors_of(module))
            for one in _public_classes(module).values():
                faults.extend(class_faults(one))

        faults: list[str] = []
        problem = self._budget.spend(execute)
        if problem:
            faults = [_with_file(path, problem)]
        if faults:
            self.problems += faults
            return {}
        return found


def _with_file(path: Path, problem: str) -> str:
    """Return a fault of a file with the file's path; another file may raise it, with its own."""
    problem = problem.removeprefix("line None: ")  # a file that is not text
    if problem.startswith("line "):
        return f"{path}, {problem}"
    return problem if problem.startswith(f"{path}, ") else f"{path}: {problem}"


def _load(entry: EntryPoint, found: dict[str, type]) -> None:
    found[entry.name] = entry.load()


def behaviors_of(module: ModuleType) -> dict[str, type]:
    """Return the behaviors that a module defines: its public classes with at least one hook."""
    return {
        snake_case(name): value
        for name, value in _public_classes(module).items()
        if any(hasattr(value, hook.method) for hook in Hook)
    }


def _public_classes(module: ModuleType) -> dict[str, type]:
    """Return the public classes that a module defines, by name."""
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type)
        and not name.startswith("_")
        # Otherwise each class that a file imports would be offered once more under that file.
        and value.__module__ == module.__name__
    }


def describe(name: str, behavior: object) -> Description:
    """Describe a behavior's class. This can run the behavior's code; call it inside the guard."""
    doc = getattr(behavior, "__doc__", None)
    lines = plain.text(doc, "a docstring", LONGEST_DOC, kept="\n").split("\n") if doc else []
    title = next((line.strip() for line in lines if line.strip()), name)
    package = str(getattr(behavior, "__module__", "") or "").partition(".")[0]
    if package == "emu":
        return Description(title, emu.__version__)
    version = str(getattr(behavior, "version", ""))
    return Description(title, plain.text(version, "a version", LONGEST_VERSION))


def snake_case(name: str) -> str:
    """Return the behavior's name for a class's name: ``town_crier`` for ``TownCrier``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
