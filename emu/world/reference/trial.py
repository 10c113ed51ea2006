"""Runs an event of a script outside of a world, and notes what it did.

Spawns, players and zones are stand-ins: handles that can be passed on. Every function answers with
what its kind of result needs, and some with a fixed value, so that a script runs as far as it can.
Source: docs/guides/lua.md#calling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

from emu.scripts.folder import ScriptFolder
from emu.scripts.runtime import Environment, Runtime
from emu.scripts.signatures import Handle, HandleKind
from emu.world.reference.functions import known_functions
from emu.world.scripts.stubs import stub_names

LEVEL: Final = 20
MOST_LINES: Final = 1000
PLAYER: Final = "Spawn"
_ANSWERS: Final[Mapping[str, Any]] = {
    "GetLevel": LEVEL, "IsAlive": True, "GetDistance": 3.0, "GetVariableValue": "",
    "GetServerVariable": "NULL", "GetMaxHP": 1000, "GetHP": 1000, "GetRace": 9, "GetClass": 3,
    "GetGender": 1,
}  # fmt: skip
_MADE: Final = {
    "CreateConversation": (HandleKind.CONVERSATION, "conversation"),
    "CreateOptionWindow": (HandleKind.WINDOW, "window"),
    "GetZone": (HandleKind.ZONE, "Zone"),
    "GetSpawn": (HandleKind.NPC, "another spawn"),
    "GetSpawnByLocationID": (HandleKind.NPC, "another spawn"),
    "SpawnMob": (HandleKind.NPC, "a new spawn"),
    "SpawnByLocationID": (HandleKind.NPC, "a new spawn"),
}
"""Functions that return a handle: its kind, and how it is named in the notes."""


class Trial:
    """A runtime whose functions note each call and do nothing."""

    def __init__(self, folder: ScriptFolder, *, seed: int = 0, is_noted: bool = True) -> None:
        """Prepare the functions. Raises `ConfigError` if lupa is not installed."""
        self.lines: list[str] = []
        """The calls, as they would stand in a script."""
        self.printed: list[str] = []
        self._is_noted = is_noted
        self._variables: dict[str, Any] = {}
        functions = {name: self._function(name, value) for name, value in stub_names().items()}
        functions["SetTempVariable"] = self._set_variable
        functions["GetTempVariable"] = self._variable
        functions["MakeRandomInt"] = lambda low=0, _high=0, *_more: low
        functions["MakeRandomFloat"] = lambda low=0.0, _high=0.0, *_more: low
        functions["GetName"] = lambda one=None, *_more: _name(one)
        functions["IsPlayer"] = lambda one=None, *_more: _name(one) == PLAYER
        self.runtime = Runtime(folder, functions, printed=self.printed.append, seed=seed)

    def call(self, path: str, event: str, values: Iterable[str | float] = ()) -> tuple[bool, Any]:
        """Call a function of a file as the server would; return whether it is there, its result.

        The first arguments are what events of such a file get. Raises `ScriptError`.
        """
        env = self.runtime.load(path)
        return self.runtime.call(env, event, *first_arguments(path), *values)

    def load(self, path: str) -> Environment:
        """Load a file. Raises `ScriptError`."""
        return self.runtime.load(path)

    def _function(self, name: str, value: Any) -> Callable[..., Any]:
        made = _MADE.get(name)
        kind, label = made if made is not None else (None, "")
        answer = _ANSWERS.get(name, value)
        return partial(self._called, name, kind, label, answer)

    def _called(
        self, name: str, kind: HandleKind | None, label: str, answer: Any, /, *values: Any
    ) -> Any:
        if self._is_noted and len(self.lines) < MOST_LINES:
            missing = "" if known_functions()[name].works else "   (missing here)"
            self.lines.append(f"{name}({', '.join(map(_written, values))}){missing}")
        return answer if kind is None else Handle(kind, label)

    def _set_variable(self, spawn: Any = None, name: Any = "", value: Any = None, *_: Any) -> None:
        self._called("SetTempVariable", None, "", None, spawn, name, value)
        self._variables[str(name)] = value

    def _variable(self, _spawn: Any = None, name: Any = "", *_: Any) -> Any:
        return self._variables.get(str(name))


def first_arguments(path: str) -> tuple[Handle, ...]:
    """Return the stand-ins that the events of a file get, by the folder that it is in."""
    player = Handle(HandleKind.PLAYER, PLAYER)
    kind, name = _SUBJECTS.get(path.partition("/")[0], (HandleKind.NPC, "NPC"))
    return Handle(kind, name), player


_SUBJECTS: Final = {
    "ZoneScripts": (HandleKind.ZONE, "Zone"),
    "PlayerScripts": (HandleKind.ZONE, "Zone"),
    "RegionScripts": (HandleKind.ZONE, "Zone"),
    "ItemScripts": (HandleKind.ITEM, "Item"),
    "Quests": (HandleKind.QUEST, "Quest"),
}


def _name(value: Any) -> str:
    return str(value.subject) if isinstance(value, Handle) else ""


def _written(value: Any) -> str:
    """Return a value as it would stand in a script."""
    match value:
        case None:
            return "nil"
        case bool():
            return "true" if value else "false"
        case str():
            return '"' + value.encode("latin-1", "replace").decode("utf-8", "replace") + '"'
        case Handle():
            return _name(value)
        case int() | float():
            return f"{value:g}" if isinstance(value, float) else str(value)
    return "a table"
