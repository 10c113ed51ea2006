"""How the words of a command line become values.

Words are divided by blanks; quotation marks keep blanks inside a word. Nothing here knows what a
value is for.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from emu.errors import CommandError

Value = str | int | float | bool | None

LARGEST = 10**9
"""Of all numbers, up and down: more than anything counts here, and every layout has room for it."""

_WORD = re.compile(r"""\"([^\"]*)\"?|'([^']*)'?|(\S+)""")
_YES = frozenset(("1", "on", "yes", "true"))
_NO = frozenset(("0", "off", "no", "false"))


class ArgumentKind(enum.Enum):
    """What an argument takes."""

    WORD = "a word"
    TEXT = "text"
    """All that is left of the line; only as the last argument."""
    NUMBER = "a whole number"
    DECIMAL = "a number"
    SWITCH = "on or off"
    SECRET = "a password"  # noqa: S105  # what is asked for, not one
    """A word that no log shows."""


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
    """Of what it is one, for those who complete a line: player, zone; see `Registry.known`.

    `COMMAND` needs no list: it is one of those that the caller may use.
    """

    @property
    def usage(self) -> str:
        """How it stands in a line of usage."""
        text = "|".join(self.choices) if self.choices else self.name.upper()
        return f"[{text}]" if self.optional else text

    def read(self, word: str) -> Value:
        """Return the value of a word. Raises `CommandError` that says what is wanted."""
        if self.choices and word.lower() not in self.choices:
            raise CommandError(f"{self.name}: {word!r} is none of {', '.join(self.choices)}")
        if self.choices:
            return word.lower()
        if self.kind is ArgumentKind.SWITCH and word.lower() in _YES | _NO:
            return word.lower() in _YES
        try:
            if self.kind is ArgumentKind.NUMBER:
                return self._within(int(word, 10))
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
    """Return the words of a line, each with where it begins; an open quotation ends the line."""
    return [(found[found.lastindex or 0], found.start()) for found in _WORD.finditer(line)]


def without_secrets(arguments: Sequence[Argument], line: str) -> str:
    """Return a line fit for a log: every word that is a secret is replaced.

    One with a secret and words that do not fit is left out as a whole from the secret on.
    """
    secret = next((n for n, one in enumerate(arguments) if one.kind is ArgumentKind.SECRET), None)
    words = split_line(line)
    if secret is None or len(words) <= secret:
        return line
    shown = line[: words[secret][1]] + "***"
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
            values[argument.name] = line[start:].strip()
            words = []
        else:
            values[argument.name] = argument.read(word)
            words = words[1:]
    if words:
        raise CommandError(f"{words[0][0]!r} is one word too many")
    return values


def one_line(text: str) -> str:
    """Return what somebody sent as one line: control characters are blanks."""
    return "".join(letter if letter.isprintable() else " " for letter in text).strip()
