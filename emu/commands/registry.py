"""The command registry: finds a command by name, checks the caller's rank, runs it, reports it.

It also says how a line that is being typed may continue.

Source: docs/protocol/world/commands.md#eq2emulator.
"""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from emu.commands.arguments import (
    COMMAND,
    Argument,
    ArgumentKind,
    Value,
    read_arguments,
    split_line,
    without_secrets,
)
from emu.errors import CommandError, EmuError
from emu.model import SEES_HIDDEN
from emu.times import Monotonic

STATUS_BANNED_FOR_EVER: Final = -2
"""Status of a character that keeps its whole account out."""
STATUS_BANNED: Final = -1
GUIDE: Final = SEES_HIDDEN
MASTER: Final = 100
ADMINISTRATOR: Final = 200
OWNER: Final = 1000
"""Whoever holds the machine itself; above every character's."""

ROLES: Final[Mapping[str, int]] = {
    "guide": GUIDE,
    "master": MASTER,
    "administrator": ADMINISTRATOR,
}
"""Roles of those who are no characters, by the rank each has."""


def account_rank(statuses: Iterable[int]) -> int:
    """Return the rank of an account whose characters have these statuses: the highest of them.

    0 is a player's; below that the whole account is banned.
    """
    known = list(statuses)
    if STATUS_BANNED_FOR_EVER in known:
        return STATUS_BANNED_FOR_EVER
    return max([0, *known])


def account_authority(statuses: Iterable[int]) -> int:
    """Return the rank that protects an account: the highest of its characters' statuses.

    A ban takes nothing from it, so that nobody of a lower rank may change a banned account.
    """
    return max([0, *statuses])


def may_act_on(rank: int, target: int, *, own: bool = False, harmless: bool = False) -> bool:
    """Decide whether somebody of a rank may do something to an account of the rank `target`.

    The rank must be above the account's: equal ranks may not act on each other. `own` says that it
    is the actor's own account; on that one only what is `harmless` is allowed to everybody.
    """
    return rank > target or (own and harmless)


def check_authority(
    rank: int, target: int, name: str, *, own: bool = False, harmless: bool = False
) -> None:
    """Raise `CommandError` unless `may_act_on` allows it; `name` is who would be acted on."""
    if not may_act_on(rank, target, own=own, harmless=harmless):
        raise CommandError(f"{name} has your rank or a higher one")


MOST_RANKS = 64
"""Ranks for which it is remembered what they may call."""
FOUND_BY_BEGINNING = 3
"""Letters from which on the beginning of a name is enough, when no other begins so."""


class Cost(enum.Enum):
    """What a command costs the server. A player may use an expensive one only so often."""

    PLAIN = "little"
    LISTING = "makes a list that is longer the more players there are"
    SHOWN = "changes how the player looks to everybody near"
    CHANGE = "changes a list that is stored and sent as a whole"


class CommandRefused(CommandError):
    """The caller may not do this."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: a player, the console, a named RCON user.

    `rank` is on the scale of `admin_status`: 0 a player, 100 a game master, 200 an administrator.
    """

    name: str
    rank: int
    origin: str
    player: Any = None
    """The player in the world who calls, None for those outside of it."""
    account_id: int = 0
    """The account that the caller plays or has signed in with; 0 for users of other kinds."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a command answers: lines for people, and the same as data for programs."""

    lines: tuple[str, ...] = ()
    data: Any = None
    ok: bool = True

    @property
    def text(self) -> str:
        """Return the lines as one text."""
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True)
class Call:
    """One use of a command, ready to be run. Times are monotonic seconds."""

    caller: Caller
    values: dict[str, Value]
    now: Monotonic

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


Run = Callable[[Call], Awaitable[Reply | str | None]]


@dataclass(frozen=True, slots=True)
class Command:
    """A command.

    A name may have two words, of which the first is shared: ``account add``, ``account ban``.
    `rank` is the lowest that may call it; `outside`: somebody who is not in the world may, too.
    """

    name: str
    help: str
    run: Run
    arguments: tuple[Argument, ...] = ()
    rank: int = 0
    outside: bool = True
    aliases: tuple[str, ...] = ()
    is_quiet: bool = False
    """Used by everybody all the time (say, who): its use is not told of."""
    without_database: bool = False
    """It works, and is of use, while the server has lost its database."""
    cost: Cost = Cost.PLAIN

    @property
    def usage(self) -> str:
        """How it is typed."""
        return " ".join([self.name, *(argument.usage for argument in self.arguments)])


@dataclass(frozen=True, slots=True)
class Use:
    """A command was used: who, what, and how it ended."""

    caller: str
    origin: str
    line: str
    result: str
    ok: bool


@dataclass(slots=True)
class Registry:
    """All commands by name; `told` is called for every use that is not quiet.

    `known` lists what there is of one kind of thing that a caller may know of, for those who
    complete a line; see `Argument.among`.
    """

    told: Callable[[Use], None] = lambda _use: None
    known: dict[str, Callable[[Caller], Iterable[str]]] = field(default_factory=dict)
    refusal: Callable[[], str] = lambda: ""
    """Returns why no command with a rank may be used now, but those that need no database."""
    _commands: dict[str, Command] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    _allowed: dict[tuple[int, bool], tuple[Command, ...]] = field(default_factory=dict)
    """What those of a rank may call, in the game or outside: asked for with every command."""

    def __iter__(self) -> Iterator[Command]:
        """All commands by name."""
        return iter([self._commands[name] for name in sorted(self._commands)])

    def add(self, command: Command) -> None:
        """Add a command. Raises `CommandError` when a name is taken."""
        for name in (command.name, *command.aliases):
            if name in self._names:
                raise CommandError(f"there is a command {name} already")
        for name in (command.name, *command.aliases):
            self._names[name] = command.name
        self._commands[command.name] = command
        self._allowed.clear()

    def extend(self, commands: Iterable[Command]) -> None:
        """Add several commands. Raises `CommandError` when a name is taken."""
        for command in commands:
            self.add(command)

    def find(self, name: str) -> Command | None:
        """Return a command by its name, an alias, or the beginning of one that is clear."""
        name = name.lower()
        if name not in self._names and len(name) >= FOUND_BY_BEGINNING:
            matches = {
                self._names[known]
                for known in self._names
                if known.startswith(name) and " " not in known
            }
            if len(matches) == 1:
                return self._commands[matches.pop()]
        found = self._names.get(name)
        return self._commands[found] if found is not None else None

    def allowed(self, caller: Caller) -> Sequence[Command]:
        """Return the commands that somebody may call, by name."""
        is_inside = caller.player is not None
        found = self._allowed.get((caller.rank, is_inside))
        if found is None:
            if len(self._allowed) >= MOST_RANKS:
                self._allowed.clear()
            found = self._allowed[caller.rank, is_inside] = tuple(
                command
                for command in self
                if caller.rank >= command.rank and (command.outside or is_inside)
            )
        return found

    def resolve(self, line: str) -> tuple[Command, str]:
        """Return the command that a line begins with, and the rest. Raises `CommandError`."""
        first, _, rest = line.strip().removeprefix("/").partition(" ")
        second, _, after = rest.strip().partition(" ")
        both = self._names.get(f"{first} {second}".lower())
        if both is not None:
            return self._commands[both], after
        found = self.find(first) if first else None
        if found is not None:
            return found, rest
        prefix = f"{first.lower()} "
        parts = sorted(name.removeprefix(prefix) for name in self._names if name.startswith(prefix))
        if parts:
            raise CommandError(f"{first} takes one of {', '.join(parts)}")
        raise CommandError(f"there is no command {first}; help lists them")

    async def run(self, caller: Caller, line: str, now: Monotonic) -> Reply:
        """Run a line: a name, then arguments. What goes wrong is a reply that is not `ok`."""
        try:
            command, rest = self.resolve(line)
        except CommandError as error:
            return Reply((str(error),), ok=False)
        return await self.call(caller, command, rest, now)

    async def call(self, caller: Caller, command: Command, rest: str, now: Monotonic) -> Reply:
        """Run a command that was found, with the rest of its line."""
        reply = await self._attempt(caller, command, rest, now)
        if not command.is_quiet or not reply.ok:
            line = f"{command.name} {without_secrets(command.arguments, rest)}".strip()
            self.told(Use(caller.name, caller.origin, line, reply.text, reply.ok))
        return reply

    async def _attempt(self, caller: Caller, command: Command, rest: str, now: Monotonic) -> Reply:
        try:
            if caller.rank < command.rank:
                raise CommandRefused(
                    f"{command.name} needs rank {command.rank}; yours is {caller.rank}"
                )
            if caller.player is None and not command.outside:
                raise CommandRefused(f"{command.name} can only be used in the game")
            refusal = "" if command.without_database or not command.rank else self.refusal()
            if refusal:
                raise CommandRefused(refusal)
            try:
                values = read_arguments(command.arguments, rest)
            except CommandError as error:
                raise CommandError(f"{error}; usage: {command.usage}") from None
            reply = await command.run(Call(caller, values, now))
        except EmuError as error:
            return Reply((str(error),), ok=False)
        if isinstance(reply, str):
            return Reply(tuple(reply.splitlines()))
        return reply or Reply()


def help_command(registry: Registry) -> Command:
    """Return the command that lists all others and explains one."""

    async def run(call: Call) -> Reply:
        allowed = registry.allowed(call.caller)
        if not call["command"]:
            width = max((len(command.usage) for command in allowed), default=0)
            return Reply(
                tuple(f"{command.usage:<{width}}  {command.help}" for command in allowed),
                [command.name for command in allowed],
            )
        command, _ = registry.resolve(call["command"])
        if command not in allowed:
            raise CommandError(f"there is no command {call['command']}")
        lines = [command.usage, command.help]
        lines += [f"  {entry.usage}: {entry.help}" for entry in command.arguments if entry.help]
        return Reply(tuple(lines), {"name": command.name, "usage": command.usage})

    about = "the one to explain"
    which = Argument("command", ArgumentKind.TEXT, about, optional=True, default="", among=COMMAND)
    return Command(
        "help", "list the commands, or explain one", run, (which,), is_quiet=True,
        cost=Cost.LISTING,
    )  # fmt: skip


SWITCHES = ("on", "off")
MOST_SHOWN = 200


def completions(registry: Registry, caller: Caller, line: str) -> list[str]:
    """Return the words that may stand where the last word of a line stands, by name.

    A line that ends with a blank, or with an empty quotation, asks for the next word. Commands that
    the caller may not use are left out.
    """
    words = [word for word, _ in split_line(line)]
    begun = "" if not words or line[-1:].isspace() else words.pop()
    allowed = registry.allowed(caller)
    found = _command_words(allowed, words)
    if words:
        try:
            command, rest = registry.resolve(" ".join(words))
        except CommandError:
            pass
        else:
            if command in allowed:
                before = [word for word, _ in split_line(rest)]
                found += (
                    _command_words(allowed, before)
                    if _names_commands(command)
                    else _argument_words(registry, caller, command, len(before))
                )
    begun = begun.casefold()
    fitting = {word for word in found if word.casefold().startswith(begun)}
    return sorted(fitting)[:MOST_SHOWN]


def complete_command(registry: Registry) -> Command:
    """Return the command by which consoles outside of this process complete a line."""

    async def run(call: Call) -> Reply:
        found = completions(registry, call.caller, call["line"])
        return Reply(tuple(found), found)

    line = Argument("line", ArgumentKind.TEXT, "what is typed so far", optional=True, default="")
    return Command(
        "complete", "list how a line may go on", run, (line,), is_quiet=True, cost=Cost.LISTING
    )


def _command_words(commands: Iterable[Command], before: list[str]) -> list[str]:
    """Return the words of commands' names that may stand behind those before."""
    at = len(before)
    names = [command.name.split() for command in commands]
    typed = [word.casefold() for word in before]
    return [name[at] for name in names if len(name) > at and name[:at] == typed]


def _names_commands(command: Command) -> bool:
    """Say whether what follows a command is another one, as behind ``help``."""
    return bool(command.arguments) and command.arguments[0].among == COMMAND


def _argument_words(registry: Registry, caller: Caller, command: Command, at: int) -> list[str]:
    if at >= len(command.arguments):
        return []
    argument: Argument = command.arguments[at]
    if argument.choices:
        return list(argument.choices)
    if argument.kind is ArgumentKind.SWITCH:
        return list(SWITCHES)
    listing = registry.known.get(argument.among)
    return list(listing(caller)) if listing is not None else []
