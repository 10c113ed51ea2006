"""The command registry: declares commands, reads arguments, checks ranks and runs commands.

The package's docstring shows how to add a command.

Source: docs/protocol/world/commands.md#eq2emulator.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Generic, TypedDict, TypeVar, Unpack

from emu.audit import UNCHANGED, Change
from emu.errors import CommandError, EmuError, LocalProtocolError, public_text
from emu.model import SEES_HIDDEN
from emu.times import Monotonic

# --- ranks

STATUS_BANNED_FOR_EVER: Final = -2
"""The `admin_status` of a character that bans its whole account."""
STATUS_BANNED: Final = -1
GUIDE: Final = SEES_HIDDEN
MASTER: Final = 100
ADMINISTRATOR: Final = 200
OWNER: Final = 1000
"""The rank of the local console. No character can have it."""

RANKS: Final[Mapping[str, int]] = {
    "player": 0,
    "guide": GUIDE,
    "gamemaster": MASTER,
    "admin": ADMINISTRATOR,
}
"""The ranks with a name. Every other number below `OWNER` is a rank, too."""
FORMER_NAMES: Final[Mapping[str, int]] = {"master": MASTER, "administrator": ADMINISTRATOR}
"""Names that files of RCON users may still have."""


def read_rank(word: str) -> int:
    """Return the rank of a name or a number. Raises `CommandError` for anything else."""
    rank = RANKS.get(word.lower(), FORMER_NAMES.get(word.lower()))
    if rank is None and word.isascii() and word.isdecimal():
        # Six digits are enough to reach `OWNER`; converting more would only take time.
        rank = int(word[:6])
    if rank is None or rank >= OWNER:
        raise CommandError(
            f"rank: {word!r} is no rank; use {', '.join(RANKS)} or a number below {OWNER}"
        )
    return rank


def rank_text(rank: int) -> str:
    """Return a rank's name, or its number if it has none; ``banned`` for a negative one."""
    if rank < 0:
        return "banned"
    return next((name for name, number in RANKS.items() if number == rank), str(rank))


def account_rank(statuses: Iterable[int]) -> int:
    """Return the rank of an account: the highest `admin_status` of its characters.

    A player's rank is 0. A negative rank means that the whole account is banned.
    """
    known = list(statuses)
    # A ban of the account outweighs the rank of its other characters.
    if STATUS_BANNED_FOR_EVER in known:
        return STATUS_BANNED_FOR_EVER
    return max([0, *known])


def account_authority(statuses: Iterable[int]) -> int:
    """Return the rank that protects an account: the highest `admin_status` of its characters.

    Bans are ignored: an operator of a lower rank cannot change an account because it is banned.
    """
    return max([0, *statuses])


def may_act_on(rank: int, target: int, *, own: bool = False, harmless: bool = False) -> bool:
    """Decide whether a caller of `rank` may act on an account of rank `target`.

    The caller's rank must be higher. `own` means that the account is the caller's own. On its own
    account every caller may do what is `harmless`.
    """
    return rank > target or (own and harmless)


def check_authority(
    rank: int, target: int, name: str, *, own: bool = False, harmless: bool = False
) -> None:
    """Raise `CommandError` unless `may_act_on` allows the action; `name` is the target's name."""
    if not may_act_on(rank, target, own=own, harmless=harmless):
        raise CommandError(f"{name} has your rank or a higher one")


# --- arguments

Value = str | int | float | bool | None

LARGEST = 0x7FFFFFFF
"""The limit of every number, up and down. Every packet layout has space for it."""

_WORD = re.compile(r"""\"([^\"]*)\"?|'([^']*)'?|(\S+)""")
_YES = frozenset(("1", "on", "yes", "true"))
_NO = frozenset(("0", "off", "no", "false"))


class ArgumentKind(enum.Enum):
    """The kinds of arguments. The value is the noun that error messages use."""

    WORD = "a word"
    TEXT = "text"
    """The rest of the line. Allowed only as the last argument."""
    NUMBER = "a whole number"
    DECIMAL = "a number"
    SWITCH = "on or off"
    RANK = "a rank"
    """A name of `RANKS`, or a number."""
    SECRET = "a password"  # noqa: S105  # a noun for messages, not a password
    """A word that logs show as ``***``."""


COMMAND = "command"


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a command."""

    name: str
    kind: ArgumentKind = ArgumentKind.WORD
    help: str = ""
    optional: bool = False
    default: Value = None
    choices: tuple[str, ...] = ()
    among: str = ""
    """The kind of thing that the argument names, for completion: ``player``, ``zone``.

    `Registry.known` lists the things of each kind. `COMMAND` needs no list there: completion
    offers the commands that the caller may use.
    """
    choices_of: Callable[[Any], tuple[str, ...]] | None = None
    """Returns the choices for a context, when only the running server knows them."""

    @property
    def usage(self) -> str:
        """The argument as a usage line shows it."""
        text = "|".join(self.choices) if self.choices else self.name.upper()
        return f"[{text}]" if self.optional else text

    def parse(self, word: str) -> Value:
        """Return the value of a word. Raises `CommandError` that names the expected kind."""
        if self.choices:
            if word.lower() in self.choices:
                return word.lower()
            raise CommandError(f"{self.name}: {word!r} is none of {', '.join(self.choices)}")
        if self.kind is ArgumentKind.SWITCH and word.lower() in _YES | _NO:
            return word.lower() in _YES
        if self.kind is ArgumentKind.RANK:
            return read_rank(word)
        try:
            if self.kind is ArgumentKind.NUMBER:
                return self._within(int(word, 10))
            # `float` also reads "nan", which no comparison with the limit would refuse.
            if self.kind is ArgumentKind.DECIMAL and math.isfinite(float(word)):
                return self._within(float(word))
        except ValueError:
            pass
        if self.kind in (ArgumentKind.WORD, ArgumentKind.TEXT, ArgumentKind.SECRET):
            return word
        raise CommandError(f"{self.name}: {word!r} is not {self.kind.value}")

    def _within(self, number: float) -> Value:
        if abs(number) > LARGEST:
            raise CommandError(f"{self.name}: must be {-LARGEST} to {LARGEST}")
        return number


def split_line(line: str) -> list[tuple[str, int]]:
    """Return the words of a line, each with its position.

    Blanks separate words. Quotation marks keep blanks inside a word; an open quotation extends to
    the end of the line.
    """
    # Each form of a word has its own group: both quotations and the plain word.
    return [(found[found.lastindex or 0], found.start()) for found in _WORD.finditer(line)]


def without_secrets(arguments: Sequence[Argument], line: str) -> str:
    """Return a line for the log, with ``***`` in place of a secret.

    If the number of words does not fit, a secret may stand anywhere; then everything from the
    secret's place on is removed.
    """
    secret = next(
        (n for n, argument in enumerate(arguments) if argument.kind is ArgumentKind.SECRET), None
    )
    words = split_line(line)
    if secret is None or len(words) <= secret:
        return line
    # Cut by position, because the secret may be quoted or may occur twice in the line.
    shown = line[: words[secret][1]] + "***"
    # Only with the right number of words the next word certainly is not in the secret.
    if len(words) == len(arguments) > secret + 1:
        shown += " " + line[words[secret + 1][1] :]
    return shown


def read_arguments(arguments: Sequence[Argument], line: str) -> dict[str, Value]:
    """Return the values of a line's words by argument name. Raises `CommandError`."""
    values: dict[str, Value] = {}
    words = split_line(line)
    for argument in arguments:
        if not words:
            if not argument.optional:
                raise CommandError(f"{argument.name} is missing")
            values[argument.name] = argument.default
            continue
        word, start = words[0]
        if argument.kind is ArgumentKind.TEXT:
            # The text keeps its blanks and quotation marks as the caller typed them.
            values[argument.name] = line[start:].strip()
            words = []
        else:
            values[argument.name] = argument.parse(word)
            words = words[1:]
    if words:
        raise CommandError(f"{words[0][0]!r} is one word too many")
    return values


def one_line(text: str) -> str:
    """Return a peer's text as one line, with blanks in place of control characters."""
    return "".join(letter if letter.isprintable() else " " for letter in text).strip()


# --- commands

MOST_RANKS = 64
"""Ranks whose allowed commands are cached."""
FOUND_BY_BEGINNING = 3
"""Letters that are enough to name a command, if only one command's name begins with them."""


class Cost(enum.Enum):
    """The cost of a command for the server. Expensive commands of players are rate limited."""

    PLAIN = "little"
    LISTING = "makes a list that is longer the more players there are"
    SHOWN = "changes the player's appearance for every observer"
    CHANGE = "changes a list that is stored and sent as a whole"


class CommandRefused(CommandError):
    """The caller may not use this command."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a command: a player, the console, an RCON user, a user of the web page.

    `rank` is on the scale of `admin_status`: 0 a player, 100 a game master, 200 an administrator.
    """

    name: str
    rank: int
    origin: str
    player: Any = None
    """The calling player in the world, or None for callers outside of it."""
    account_id: int = 0
    """The account that the caller plays or has signed in with, or 0."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a command: lines for people, and the same as data for programs."""

    lines: tuple[str, ...] = ()
    data: Any = None
    ok: bool = True
    change: Change = UNCHANGED
    """The old and the new value of what the command has changed, for the audit."""

    @property
    def text(self) -> str:
        """Return the lines as one text."""
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True)
class Call:
    """One use of a command: the caller, the values by argument name, the monotonic time."""

    caller: Caller
    values: dict[str, Value]
    now: Monotonic

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


Answer = Awaitable[Reply | str | None]
Run = Callable[[Call], Answer]


@dataclass(frozen=True)  # without slots, so that `_bound` can copy it fast
class Command:
    """A command.

    A name may have two words, of which the first is shared: ``account add``, ``account ban``.
    `rank` is the lowest that may use it. With `outside`, callers outside of the world may use it.
    """

    name: str
    help: str
    run: Run
    arguments: tuple[Argument, ...] = ()
    rank: int = 0
    outside: bool = True
    aliases: tuple[str, ...] = ()
    is_quiet: bool = False
    """Successful uses are not logged. For commands that are used all the time (say, who)."""
    without_database: bool = False
    """The command works while the server has lost its database."""
    cost: Cost = Cost.PLAIN
    example: str = ""
    """A line that ``help`` shows as an example."""
    changes: str = ""
    """The thing that the command changes, for the audit, with the argument that names it:
    ``account {name}``, ``server``. Empty for a command that only reads or only moves its caller.
    """

    @property
    def usage(self) -> str:
        """The command with its arguments, as ``help`` shows it."""
        return " ".join([self.name, *(argument.usage for argument in self.arguments)])


class Traits(TypedDict, total=False):
    """The optional attributes of `Command`, as `CommandSet.command` takes them."""

    rank: int
    outside: bool
    aliases: tuple[str, ...]
    is_quiet: bool
    without_database: bool
    cost: Cost
    example: str
    changes: str


C = TypeVar("C")
W = TypeVar("W", bound=Callable[[Any, Call], Answer])


class CommandSet(Generic[C]):
    """The declarations of commands that work on one kind of context."""

    def __init__(self) -> None:
        self._declared: list[tuple[Command, Callable[[C, Call], Answer], bool]] = []
        """Each command, what runs it, and whether a context has choices of its arguments."""

    def command(
        self, name: str, help_text: str, *arguments: Argument, **traits: Unpack[Traits]
    ) -> Callable[[W], W]:
        """Declare a command: a decorator of the coroutine function that runs it."""

        def declare(work: W) -> W:
            command = Command(name, help_text, _run_unbound, arguments, **traits)
            self._declared.append((command, work, any(each.choices_of for each in arguments)))
            return work

        return declare

    def commands(self, context: C) -> list[Command]:
        """Return the commands, bound to a context."""
        return [_bound(*declared, context) for declared in self._declared]

    def words(self) -> set[str]:
        """Return the first words of the commands' names."""
        return {command.name.partition(" ")[0] for command, *_ in self._declared}

    def declarations(self) -> list[Command]:
        """Return the commands without a context, for a reference of all commands.

        They cannot be run, and arguments with `choices_of` have no choices.
        """
        return [command for command, *_ in self._declared]


def _subject(command: Command, values: Mapping[str, Value]) -> str:
    """Return the thing that a use of a command changes; its kind alone without the arguments."""
    if not values:
        return command.changes.partition(" ")[0]
    return command.changes.format_map(values).strip()


async def _run_unbound(_call: Call) -> None:
    raise LocalProtocolError("a declaration of a command cannot be run; bind it to a context")


def _bound(command: Command, work: Callable[..., Answer], has_choices: bool, context: C) -> Command:
    # `dataclasses.replace` takes 20 times as long, and each world binds hundreds of commands.
    bound = object.__new__(Command)
    values = vars(command) | {"run": partial(work, context)}
    if has_choices:
        values["arguments"] = tuple(_with_choices(each, context) for each in command.arguments)
    object.__setattr__(bound, "__dict__", values)
    return bound


def _with_choices(argument: Argument, context: object) -> Argument:
    if argument.choices_of is None:
        return argument
    return replace(argument, choices=argument.choices_of(context))


@dataclass(frozen=True, slots=True)
class Use:
    """A report of one use of a command: the caller, the line, the result."""

    caller: str
    origin: str
    line: str
    result: str
    ok: bool
    command: str = ""
    """The command's name."""
    subject: str = ""
    """The thing that the operator changed or may not change; see `emu.audit.AuditedAct`. Empty for
    all other uses."""
    change: Change = UNCHANGED
    reason: str = ""


@dataclass(slots=True)
class Registry:
    """All commands by name. `report` is called for every use that is not quiet."""

    report: Callable[[Use], None] = lambda _use: None
    known: dict[str, Callable[[Caller], Iterable[str]]] = field(default_factory=dict)
    """By kind (`Argument.among`): returns the names that completion may show to a caller."""
    refusal: Callable[[], str] = lambda: ""
    """Returns why no command with a rank can be used now, or an empty text.

    Commands with `without_database` are exempt.
    """
    _commands: dict[str, Command] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    _first_words: set[str] = field(default_factory=set)
    # Every command of a player asks for it, and a filter over all commands takes 20 us.
    _allowed: dict[tuple[int, bool], tuple[Command, ...]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Command]:
        """Iterate over all commands, sorted by name."""
        return iter([self._commands[name] for name in sorted(self._commands)])

    def add(self, command: Command) -> None:
        """Add a command. Raises `CommandError` if a name is taken."""
        # All names are checked before the first is added, so a failed call changes nothing.
        for name in (command.name, *command.aliases):
            if name in self._names:
                raise CommandError(f"there is a command {name} already")
        for name in (command.name, *command.aliases):
            self._names[name] = command.name
            self._first_words.add(name.partition(" ")[0])
        self._commands[command.name] = command
        self._allowed.clear()

    def extend(self, commands: Iterable[Command]) -> None:
        """Add several commands. Raises `CommandError` if a name is taken."""
        for command in commands:
            self.add(command)

    @property
    def first_words(self) -> list[str]:
        """The first words of all names and aliases, sorted."""
        return sorted(self._first_words)

    def has_word(self, word: str) -> bool:
        """Return whether this is the first word of a command's name or alias."""
        return word in self._first_words

    def find(self, name: str) -> Command | None:
        """Return a command by its name, an alias, or an unambiguous beginning of its name."""
        name = name.lower()
        # An exact name wins over the beginning of a longer name.
        if name not in self._names and len(name) >= FOUND_BY_BEGINNING:
            # A set of commands, because two aliases of one command are not ambiguous.
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
        """Return the commands that a caller may use, sorted by name."""
        is_inside = caller.player is not None
        found = self._allowed.get((caller.rank, is_inside))
        if found is None:
            # A rank may be any number up to OWNER: without a limit, changing ranks fill memory.
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
        # Players type a slash in front of a command, consoles do not.
        first, _, rest = line.strip().removeprefix("/").partition(" ")
        second, _, after = rest.strip().partition(" ")
        # Two words are tried first: `account add` must not run a command `account`.
        both = self._names.get(f"{first} {second}".lower())
        if both is not None:
            return self._commands[both], after
        found = self.find(first) if first else None
        if found is not None:
            return found, rest
        prefix = f"{first.lower()} "
        seconds = sorted(
            name.removeprefix(prefix) for name in self._names if name.startswith(prefix)
        )
        if seconds:
            raise CommandError(f"{first} takes one of {', '.join(seconds)}")
        raise CommandError(f"there is no command {first}; help lists them")

    async def run(self, caller: Caller, line: str, now: Monotonic) -> Reply:
        """Run a line: a name, then arguments. An error becomes a reply that is not `ok`."""
        try:
            command, rest = self.resolve(line)
        except CommandError as error:
            return Reply((str(error),), ok=False)
        return await self.call(caller, command, rest, now)

    async def call(self, caller: Caller, command: Command, rest: str, now: Monotonic) -> Reply:
        """Run a command with the rest of its line, and report the use."""
        shown: Reply | None = None
        values: dict[str, Value] = {}
        try:
            reply = await self._attempt(caller, command, rest, now, values)
        # Only expected errors become replies. A fault of this program goes on to the caller.
        except EmuError as error:
            reply = Reply((str(error),), ok=False)
            # A game master need not know where the database is; an administrator repairs it.
            if caller.rank < ADMINISTRATOR:
                shown = Reply((public_text(error),), ok=False)
        # A failed use is always reported: it may be an attempt without the rank.
        if not command.is_quiet or not reply.ok:
            line = f"{command.name} {without_secrets(command.arguments, rest)}".strip()
            self.report(
                Use(
                    caller.name, caller.origin, line, reply.text, reply.ok, command.name,
                    _subject(command, values) if caller.rank >= GUIDE else "",
                    reply.change, str(values.get("reason") or ""),
                )
            )  # fmt: skip
        return shown or reply

    async def _attempt(
        self,
        caller: Caller,
        command: Command,
        rest: str,
        now: Monotonic,
        values: dict[str, Value],
    ) -> Reply:
        """Run a command; `values` gets the values of its arguments."""
        if caller.rank < command.rank:
            raise CommandRefused(
                f"{command.name} needs rank {command.rank}; yours is {caller.rank}"
            )
        if caller.player is None and not command.outside:
            raise CommandRefused(f"{command.name} can only be used in the game")
        # Without its database the server goes on serving players; only operators' commands,
        # most of which would wait for a write, are refused.
        refusal = "" if command.without_database or not command.rank else self.refusal()
        if refusal:
            raise CommandRefused(refusal)
        try:
            values |= read_arguments(command.arguments, rest)
        except CommandError as error:
            raise CommandError(f"{error}; usage: {command.usage}") from None
        reply = await command.run(Call(caller, values, now))
        if isinstance(reply, str):
            return Reply(tuple(reply.splitlines()))
        return reply or Reply()
