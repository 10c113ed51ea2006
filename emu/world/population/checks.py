"""Faults in zone files that only show together with behaviors and commands.

`emu.world.population.atlas` checks what one file can show. Here follow the names that it uses: its
behaviors, their options, and the commands of its verbs. The server runs in spite of these faults,
and a reload with one of them is refused.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from emu.schema import TableFault, problem
from emu.world.actors.spawn import SpawnKind, Verb
from emu.world.population.eq2emu_files import is_imported
from emu.world.population.exporting import is_exported
from emu.world.population.files import problem_of
from emu.world.zones.definitions import Atlas, Fixture

USE: Final = "use"
"""The usual command of what leads somewhere; the server has no such command."""
NEARLY: Final = 0.75
"""How similar a verb's command is to a server command if it is taken for a misspelled one."""


_LINE: Final = re.compile(r"(?P<file>.+?), line (?P<line>\d+): ")
NO_COMMAND: Final = "use a command of the server (`help` lists them), or set `to`"


class BehaviorFaults(Protocol):
    """Finds the faults of one use of a behavior; `Library.faults` does."""

    def __call__(
        self, name: str, options: Mapping[str, Any], is_zone: Callable[[str], bool]
    ) -> Sequence[TableFault]:
        """Return the faults of a behavior's name and options."""


def content_faults(atlas: Atlas, behaviors: BehaviorFaults, commands: Collection[str]) -> list[str]:
    """Return a line for each fault, with file and line, sorted by these.

    `commands` are the first words of all commands of the server.
    """
    # Faults of the files themselves come along, so that the list is complete.
    problems = list(atlas.faults)
    imported = _Imported()

    def is_zone(name: str) -> bool:
        return atlas.named(name) is not None

    for zone in atlas:
        if zone.behavior:
            source = atlas.sources.get(zone.id)
            problems += [
                problem(source, ("zone", *fault.path), f"zone: {fault}")
                for fault in behaviors(zone.behavior, zone.behavior_options, is_zone)
            ]
        problems += [
            problem(
                atlas.sources.get(zone.id), ("zone", "revive", number, "zone"),
                f"zone: revive[{number}].zone: there is no zone {row.zone!r}",
            )
            for number, row in enumerate(zone.revive) if row.zone and not is_zone(row.zone)
        ]  # fmt: skip
        for fixture in atlas.fixtures(zone.id):
            if fixture.behavior:
                problems += [
                    problem_of(fixture, fault.path, str(fault))
                    for fault in behaviors(fixture.behavior, fixture.behavior_options, is_zone)
                ]
            # EQ2Emulator's commands, which such a file has, are not faults of its operator.
            if fixture.template.verbs and not imported(fixture):
                problems += _verb_faults(fixture, commands)
    return sorted(problems, key=_place)


def _place(line: str) -> tuple[str, int]:
    """Return the file and the line of a fault, for sorting."""
    found = _LINE.match(line)
    # By number, or line 10 would come before line 9.
    return (found["file"], int(found["line"])) if found is not None else (line, 0)


class _Imported:
    """Decides whether a fixture's file was written by the import or the export of content."""

    def __init__(self) -> None:
        self._known: dict[Path, bool] = {}

    def __call__(self, fixture: Fixture) -> bool:
        if fixture.source is None:
            return False
        path = fixture.source.path
        if path not in self._known:
            self._known[path] = is_imported(path) or is_exported(path)
        return self._known[path]


def _verb_faults(fixture: Fixture, commands: Collection[str]) -> Iterator[str]:
    # A verb without a command of the server uses the way or shows the sign (see `Interaction`).
    template = fixture.template
    leads = template.destination is not None or template.kind is SpawnKind.SIGN
    for number, verb in enumerate(template.verbs):
        word = verb.command.partition(" ")[0]
        if word in commands or not verb.is_command:
            continue
        # A plain use is no misspelled command.
        near = [] if word == USE else difflib.get_close_matches(word, commands, n=1, cutoff=NEARLY)
        if leads and (_is_implied(verb) or not near):
            continue
        key = "name" if _is_implied(verb) else "command"
        cure = f"did you mean {near[0]}?" if near else NO_COMMAND
        text = f"unknown command {word!r}; {cure}"
        yield problem_of(fixture, ("verbs", number, key), f"verbs[{number}].{key}: {text}")


def _is_implied(verb: Verb) -> bool:
    return verb.command == verb.name.lower().replace(" ", "_")
