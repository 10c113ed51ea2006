"""The reference of the commands of players and operators, from their declarations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

import emu.admin.commands
import emu.commands
import emu.world.commands
import emu.world.subjects
from emu.commands import Argument, ArgumentKind, Command, CommandSet
from emu.commands.registry import ADMINISTRATOR, GUIDE, MASTER, OWNER
from emu.world.commands.client_table import read_client_commands
from tools.site.markdown import code, page, table

PACKAGES: Final = (emu.world.commands, emu.world.subjects, emu.admin.commands, emu.commands)
"""The packages whose modules declare commands."""
TITLES: Final[Mapping[str, str]] = {
    "gestures": "Gestures and moods",
    "groups": "Groups and raids",
    "players": "Players and titles",
    "relations": "Friends and ignored players",
    "social": "Chat",
    "targets": "Targets, dice, time",
    "zones": "Zones and travel",
}
"""The titles of modules whose name alone says too little."""

RANKS: Final[Mapping[int, str]] = {
    0: "0 (player)",
    GUIDE: f"{GUIDE} (guide)",
    MASTER: f"{MASTER} (game master)",
    ADMINISTRATOR: f"{ADMINISTRATOR} (administrator)",
    OWNER: f"{OWNER} (local console)",
}

INTRODUCTION = """\
One registry has all commands. Players type them into the game's chat with a slash: `/who all`.
Operators type them without it on the console (`emu admin who`, `emu world console`), by RCON and on
the operators' page.

A command needs a rank, and a higher rank may use it too. `emu character rank NAME RANK` gives a
character a rank. Commands *in the game* act on the caller's own character, so they do not work
elsewhere.

A name may be shortened to three letters or more if only one command begins with them. An argument
in brackets may be left out. An argument with blanks needs quotation marks, except a text at the
end of the line. `help COMMAND` shows the same as this page.
"""

_REMARKS: Final[Mapping[ArgumentKind, str]] = {
    ArgumentKind.TEXT: " to the end of the line",
    ArgumentKind.SECRET: "; logs hide it",
}


def subjects() -> dict[str, list[Command]]:
    """Return all declared commands, by the title of the module that declares them."""
    found: dict[str, list[Command]] = {}
    for package in PACKAGES:
        for info in iter_modules(package.__path__, f"{package.__name__}."):
            sets = [one for one in vars(import_module(info.name)).values() if _is_set(one)]
            if sets:
                name = info.name.rpartition(".")[2]
                title = TITLES.get(name, name.capitalize())
                found[title] = [command for one in sets for command in one.declarations()]
    return found


def _is_set(value: object) -> bool:
    return isinstance(value, CommandSet)


def game_commands_page() -> str:
    """Return the page of all commands, by subject."""
    found = subjects()
    parts = [[*INTRODUCTION.splitlines(), ""], list(_overview(found))]
    for subject, commands in found.items():
        name = subject.split()[0].lower().strip(",")
        parts.append([f"## {subject} {{#subject-{name}}}", ""])
        parts += [list(_about(one)) for one in commands]
    parts.append(list(_client_commands(found)))
    return page("Commands in the game and on the console", *parts)


CLIENT: Final = """\
The client's windows and menus call commands by the names of EQ2Emulator's table, at its positions
([table of commands](../protocol/world/commands.md#table)). A command either works, or is answered
with "NAME is not on this server.". None is unknown to a client of a player.
"""


def client_commands(found: Mapping[str, list[Command]]) -> dict[str, tuple[str, ...]]:
    """Return the client's commands by what the server does: works, answered, missing.

    Missing are those of game masters that the server does not have: clients are not sent them.
    """
    names = read_client_commands()
    words = {
        name.partition(" ")[0]
        for commands in found.values()
        for one in commands
        for name in (one.name, *one.aliases)
    }
    every = {**names.players, **names.staff}
    return {
        "works": tuple(name for name in every if name in words),
        "answered": tuple(name for name in names.players if name not in words),
        "missing": tuple(name for name in names.staff if name not in words),
    }


def _client_commands(found: Mapping[str, list[Command]]) -> Iterator[str]:
    states = client_commands(found)
    yield from ("## Commands of the client {#client}", "", *CLIENT.splitlines(), "")
    rows = [(state, str(len(names))) for state, names in states.items()]
    yield from table(["state", "commands"], rows)
    for state, names in states.items():
        yield from ("", f"**{state.capitalize()}:** {', '.join(map(code, sorted(names)))}", "")


def anchor(command: Command) -> str:
    """Return the anchor of a command on the page."""
    return command.name.replace(" ", "-")


def _overview(found: Mapping[str, list[Command]]) -> Iterator[str]:
    rows = [
        (f"[{one.name}](#{anchor(one)})", RANKS[one.rank], _where(one), one.help)
        for commands in found.values()
        for one in commands
    ]
    yield from table(["command", "rank", "where", "purpose"], rows)


def _where(command: Command) -> str:
    return "everywhere" if command.outside else "in the game"


def _about(command: Command) -> Iterator[str]:
    yield from (f"### {command.name} {{#{anchor(command)}}}", "")
    yield from ("```text", command.usage, "```", "")
    text = command.help
    yield from (f"{text[0].upper()}{text[1:]}.", "")
    facts = [f"Rank: {RANKS[command.rank]}; {_where(command)}."]
    if command.aliases:
        facts.append(f"Other names: {', '.join(map(code, command.aliases))}.")
    if command.rank and command.without_database:
        facts.append("Works while the server has lost its database.")
    yield from (" ".join(facts), "")
    if command.arguments:
        rows = [(code(one.name), _kind(one), _default(one), one.help) for one in command.arguments]
        yield from table(["argument", "kind", "default", "meaning"], rows)
    if command.example:
        yield from (f"Example: {code(command.example)}", "")


def _kind(argument: Argument) -> str:
    if argument.choices:
        return " or ".join(map(code, argument.choices))
    return argument.kind.value.removeprefix("a ") + _REMARKS.get(argument.kind, "")


def _default(argument: Argument) -> str:
    if not argument.optional:
        return "required"
    if argument.default is False:
        return "off"
    return code(argument.default) if argument.default not in ("", None) else "none"
