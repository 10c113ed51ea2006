"""Declarations of the server's functions for scripts, and reading of their arguments.

A signature names each argument by a letter (docs/guides/lua.md#arguments). Handles: ``S`` spawn,
``P`` player, ``N`` NPC, ``Z`` zone, ``Q`` quest, ``I`` item, ``L`` spell, ``K`` skill, ``C``
conversation, ``O`` option window, ``A`` spawn or item. Values: ``t`` text, ``u`` unsigned number,
``n`` signed number, ``f`` fraction, ``b`` truth, ``1`` a flag that only the number 1 sets, ``v``
any value.
``?`` behind a letter marks an argument that may be missing, ``=value`` says what a missing one is,
and ``...`` at the end passes all further arguments as they are.

No function reads an argument by itself. EQ2Emulator's server never refuses a value of a wrong kind:
it becomes 0, an empty text or a missing handle, and many scripts rely on that. The rules of that
conversion are here, in one place. Source: the conversions of EQ2Emulator's LuaInterface, measured
on its content.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from struct import Struct
from typing import Any, Final, NoReturn, Protocol, TypeVar

from emu.errors import ScriptError
from emu.scripts.forms import LONGEST_TEXT

C = TypeVar("C")


class HandleKind(Enum):
    """What a handle stands for; the value is its letter in signatures."""

    SPAWN = "S"
    PLAYER = "P"
    NPC = "N"
    ZONE = "Z"
    QUEST = "Q"
    ITEM = "I"
    SPELL = "L"
    SKILL = "K"
    CONVERSATION = "C"
    WINDOW = "O"

    __hash__ = object.__hash__
    """Each call of a script asks for it, and that of `Enum` is a call of Python code."""


SPAWNS: Final = frozenset((HandleKind.SPAWN, HandleKind.PLAYER, HandleKind.NPC))


class Holder(Protocol):
    """What keeps handles for Lua; `Runtime` does."""

    def let_go(self, handle: Handle) -> None:
        """Let Lua lose a handle that has ended."""


class Handle:
    """What scripts have in place of an object of the server; they can only pass it on.

    There is one handle for each object, so that scripts can compare them. After `end` it counts as
    a missing argument.

    Lua keeps what it has of a handle until `end`: see `Runtime.hold`. A handle that the server
    passes once, and that nothing ends, is not `is_lasting`.
    """

    __slots__ = ("holders", "kind", "subject")

    def __init__(self, kind: HandleKind, subject: Any, *, is_lasting: bool = True) -> None:
        self.kind = kind
        self.subject = subject
        self.holders: tuple[Callable[[], Holder | None], ...] | None = () if is_lasting else None
        """The runtimes that have it, if they still run; None if none is to keep it."""

    def end(self) -> None:
        """Let go of the object: it is gone from the world."""
        self.subject = None
        holders, self.holders = self.holders, None
        for one in holders or ():
            holder = one()
            if holder is not None:
                holder.let_go(self)

    def __call__(self, *_values: object) -> NoReturn:
        """Refuse a call by a script. Raises `ScriptError`; the runtime adds its file."""
        raise ScriptError("", 0, f"attempt to call a {self!r}")

    def __repr__(self) -> str:
        # What `tostring` gives scripts: nothing of the server's memory.
        return self.kind.name.lower()


Reader = Callable[[Any], Any]
"""Turns a value of Lua's into the argument of a function."""

_SINGLE: Final = Struct("<f")
_U32: Final = 0xFFFFFFFF
_LARGEST: Final = 2.0**63
_FEW: Final = 8
"""Arguments of one call whose texts are not added up."""


def single(value: float) -> float:
    """Return a number in single precision, as EQ2Emulator's scripts get coordinates."""
    try:
        (rounded,) = _SINGLE.unpack(_SINGLE.pack(value))
    except OverflowError:
        return 0.0
    return float(rounded) if math.isfinite(rounded) else 0.0


def _number(value: Any) -> int | float:
    """Return the number in a value: a number itself, or a text that is one; 0 for all others."""
    kind = type(value)
    if kind is int:
        return int(value)
    if kind is str:
        return _number_of_text(value)
    if kind is float and abs(value) < _LARGEST:  # neither infinite nor NaN
        return float(value)
    return 0


def _number_of_text(text: str) -> int | float:
    stripped = text.strip()
    # Python reads "1_000" and "infinity", Lua does not.
    if len(stripped) > 40 or "_" in stripped:
        return 0
    try:
        return int(stripped, 16 if stripped.lower().lstrip("+-").startswith("0x") else 10)
    except ValueError:
        pass
    try:
        number = float(stripped)
    except ValueError:
        return 0
    return number if abs(number) < _LARGEST else 0


def read_unsigned(value: Any) -> int:
    """Read ``u``: the fraction is cut, a number below 0 counts down from 2^32."""
    whole = int(_number(value))
    return whole if 0 <= whole < _LARGEST else whole & _U32


def read_signed(value: Any) -> int:
    """Read ``n``: the low 32 bits with their sign; a number with a fraction becomes 0."""
    number = _number(value)
    if number != int(number):
        return 0
    low = int(number) & _U32
    return low - 0x100000000 if low > 0x7FFFFFFF else low


def read_fraction(value: Any) -> float:
    """Read ``f``: a number in single precision."""
    return single(_number(value))


def read_text(value: Any) -> str:
    """Read ``t``: a text, or a number as Lua writes it; empty for all others."""
    kind = type(value)
    if kind is str:
        return str(value)
    if kind is int:
        return str(value)
    if kind is float:
        written = format(value, ".14g")
        return written if any(one in written for one in ".en") else f"{written}.0"
    return ""


def read_truth(value: Any) -> bool:
    """Read ``b``: true but for nil and false; 0 is true, as in Lua."""
    return value is not None and value is not False


def read_flag(value: Any) -> bool:
    """Read ``1``: only the number 1, or its text, is true."""
    return value is not True and _number(value) == 1


def read_value(value: Any) -> Any:
    """Read ``v``: the value as it is."""
    return value


def _read_handle(kinds: frozenset[HandleKind]) -> Reader:
    def read(value: Any) -> Any:
        if type(value) is Handle and value.kind in kinds:
            return value.subject
        return None

    return read


READERS: Final[Mapping[str, Reader]] = {
    "t": read_text,
    "u": read_unsigned,
    "n": read_signed,
    "f": read_fraction,
    "b": read_truth,
    "1": read_flag,
    "v": read_value,
    "S": _read_handle(SPAWNS),
    "A": _read_handle(SPAWNS | {HandleKind.ITEM}),
    **{
        kind.value: _read_handle(frozenset((kind,)))
        for kind in HandleKind
        if kind is not HandleKind.SPAWN
    },
}
_MISSING: Final[Mapping[str, Any]] = {
    "t": "", "u": 0, "n": 0, "f": 0.0, "b": False, "1": False,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ScriptArgument:
    """One argument of a function."""

    letter: str
    name: str
    optional: bool
    missing: Any
    """Its value when it is missing or nil."""
    read: Reader


@dataclass(frozen=True, slots=True)
class Signature:
    """The arguments of a function, in order."""

    arguments: tuple[ScriptArgument, ...]
    more: bool
    """Whether all further arguments are passed as they are."""
    readers: tuple[tuple[Reader, Any], ...] = field(init=False, repr=False, compare=False)
    """What reads each argument, and its value when it is missing. Each world uses this tuple."""

    def __post_init__(self) -> None:
        readers = tuple((one.read, one.missing) for one in self.arguments)
        object.__setattr__(self, "readers", readers)

    @property
    def least(self) -> int:
        """How many arguments a call must have at least."""
        needed = [at for at, one in enumerate(self.arguments, 1) if not one.optional]
        return max(needed, default=0)

    def __str__(self) -> str:
        """Return the signature as a reference shows it: ``spawn, text, player?``."""
        words = [one.name + ("?" if one.optional else "") for one in self.arguments]
        return ", ".join([*words, "..."] if self.more else words)


def parse(text: str) -> Signature:
    """Return the signature that a text declares: ``"S npc, t text, P player?, f distance=30"``.

    Raises `ValueError` for a text that declares none.
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    more = bool(words) and words[-1] == "..."
    return Signature(tuple(map(_argument, words[:-1] if more else words)), more)


def _argument(word: str) -> ScriptArgument:
    letter, _, name = word.partition(" ")
    if letter not in READERS or not name:
        raise ValueError(f"{word!r} is no argument: a letter and a name are needed")
    name, has_default, default = name.strip().partition("=")
    read = READERS[letter]
    missing = _MISSING.get(letter)
    if has_default:
        missing = read_truth(default == "true" or None) if letter == "b" else read(default)
    optional = bool(has_default) or name.endswith("?")
    return ScriptArgument(letter, name.rstrip("?"), optional, missing, read)


@dataclass(frozen=True, slots=True)
class ScriptFunction:
    """A function of the server that scripts can call."""

    name: str
    signature: Signature
    act: Callable[..., Any]
    """Gets the context, then one value for each argument."""
    summary: str
    """What it does, for the reference: the first line of its docstring."""


class FunctionTable:
    """The functions of one subject, filled by a decorator."""

    def __init__(self) -> None:
        self.functions: dict[str, ScriptFunction] = {}

    def __call__(self, name: str, signature: str = "") -> Callable[[C], C]:
        """Return a decorator that adds a function under `name`; `signature` is for `parse`."""

        def add(act: C) -> C:
            if name in self.functions:
                raise ValueError(f"{name} is there already")
            summary = (getattr(act, "__doc__", None) or "").strip().split("\n", 1)[0]
            self.functions[name] = ScriptFunction(name, parse(signature), act, summary)  # type: ignore[arg-type]
            return act

        return add

    def bound(self, context: object) -> FunctionTable:
        """Return the functions with this context, whatever that of the other functions is."""

        def given(act: Callable[..., Any]) -> Callable[..., Any]:
            return lambda _context, *values: act(context, *values)

        made = FunctionTable()
        made.functions = {
            name: replace(one, act=given(one.act)) for name, one in self.functions.items()
        }
        return made


def check_texts(values: Sequence[Any]) -> None:
    """Refuse a call whose texts are too long together: each is read, used or not.

    Raises `ScriptError`; the runtime adds its file.
    """
    if len(values) > _FEW and sum(len(one) for one in values if type(one) is str) > LONGEST_TEXT:
        raise ScriptError("", 0, f"the texts have more than {LONGEST_TEXT} bytes together")


def shortened(value: Any) -> Any:
    """Return a value of the server's as scripts may have it: its texts without zero bytes.

    `emu.scripts.forms` says why.
    """
    if type(value) is str:
        return value[:LONGEST_TEXT].replace("\0", " ")
    if type(value) is tuple:
        return tuple(map(shortened, value))
    return value


def bind(
    function: ScriptFunction, context: object, hold: Callable[[Handle], object] = id
) -> Callable[..., Any]:
    """Return what scripts call: it reads the arguments and calls the function with a context.

    `hold` gets each handle that it returns, for `Runtime.hold` of the runtime that calls.
    """
    act = function.act
    arguments = function.signature.readers
    count, more = len(arguments), function.signature.more

    def call(*values: Any) -> Any:
        given = len(values)
        check_texts(values)
        read = [
            missing if at >= given or values[at] is None else reader(values[at])
            for at, (reader, missing) in enumerate(arguments)
        ]
        result = act(context, *read, *values[count:]) if more else act(context, *read)
        if result is None:
            return None
        kind = type(result)
        if kind is Handle:
            hold(result)
            return result
        if kind is int and not -_LARGEST <= result < _LARGEST:
            # Lua has no larger whole numbers: it reads such ones as fractions, too.
            return float(result)
        return shortened(result)

    return call


def merged(tables: Sequence[FunctionTable]) -> dict[str, ScriptFunction]:
    """Return the functions of several tables by name. Raises `ValueError` for a name twice."""
    functions: dict[str, ScriptFunction] = {}
    for table in tables:
        twice = functions.keys() & table.functions.keys()
        if twice:
            raise ValueError(f"{', '.join(sorted(twice))}: in two tables")
        functions |= table.functions
    return functions
