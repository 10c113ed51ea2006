"""The registry: finds a command by name, asks whether the caller may, runs it, and tells of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from emu.commands.arguments import (
    COMMAND,
    Argument,
    ArgumentKind,
    Value,
    read_arguments,
    without_secrets,
)
from emu.errors import CommandError, EmuError
from emu.times import Monotonic

FOUND_BY_BEGINNING = 3
"""Letters from which on the beginning of a name is enough, when no other begins so."""


class Refused(CommandError):
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

    `known` lists what there is of one kind of thing, for those who complete a line; see
    `Argument.among`.
    """

    told: Callable[[Use], None] = lambda _use: None
    known: dict[str, Callable[[], Iterable[str]]] = field(default_factory=dict)
    _commands: dict[str, Command] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)

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

    def allowed(self, caller: Caller) -> list[Command]:
        """Return the commands that somebody may call."""
        return [
            command
            for command in self
            if caller.rank >= command.rank and (command.outside or caller.player is not None)
        ]

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
                raise Refused(f"{command.name} needs rank {command.rank}; yours is {caller.rank}")
            if caller.player is None and not command.outside:
                raise Refused(f"{command.name} can only be used in the game")
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
    return Command("help", "list the commands, or explain one", run, (which,), is_quiet=True)
