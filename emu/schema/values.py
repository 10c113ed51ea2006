"""Readers of single values: each checks one TOML value and returns it in its final type.

A reader raises `ValueError` with a text that says what would be right, and has `limits` for people.
With `from_text` it also accepts the text of a ``--set``: ``yes``, ``0x10``, ``a,b``.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from typing import Any, Final

from attrs import frozen

Reader = Callable[[Any], Any]

LARGEST_FLOAT: Final = 3.4e38
"""Largest magnitude of a 32-bit float, in which clients are sent decimal numbers."""
MOST_NAMED: Final = 20
"""The most known keys that are all named for an unknown one."""
FEW_NAMED: Final = 5
_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
_BOOLEANS: Final[Mapping[str, bool]] = {
    "true": True, "yes": True, "on": True, "false": False, "no": False, "off": False,
}  # fmt: skip


def unknown_key(key: str, known: Collection[str], what: str = "key") -> str:
    """Return the text for a key that does not exist: with the nearest one, else all of them.

    Of more than 20 it names the 5 nearest: a line that names all of 70 settings is not read.
    """
    # Capital letters are no difference in meaning: LISTEN is near to listen.
    spelled = {one.lower(): one for one in known}
    close = difflib.get_close_matches(key.lower(), spelled, n=1)
    if close:
        return f"unknown {what}; did you mean {spelled[close[0]]}?"
    if len(known) <= MOST_NAMED:
        return f"unknown {what} (known: {', '.join(known)})"
    nearest = difflib.get_close_matches(key.lower(), spelled, n=FEW_NAMED, cutoff=0.0)
    named = ", ".join(spelled[one] for one in nearest)
    return f"unknown {what} ({len(known)} are known, the nearest: {named})"


def limits_of(reader: Reader) -> str:
    """Return the limits of a reader as a short text; empty when it states none."""
    return str(getattr(reader, "limits", ""))


@frozen
class Boolean:
    """True or false."""

    from_text: bool = False

    @property
    def limits(self) -> str:
        """The accepted values."""
        return "true or false"

    def __call__(self, value: Any) -> bool:
        """Return the value, or the one that a word stands for."""
        if isinstance(value, bool):
            return value
        if self.from_text and isinstance(value, str) and value.lower() in _BOOLEANS:
            return _BOOLEANS[value.lower()]
        raise ValueError("must be true or false")


@frozen
class WholeNumber:
    """A whole number; as text it may be hexadecimal (0x...)."""

    low: int
    high: int
    from_text: bool = False

    @property
    def limits(self) -> str:
        """The smallest and the largest number."""
        return f"{self.low} to {self.high}"

    def __call__(self, value: Any) -> int:
        """Return the number."""
        try:
            number = int(value, 0) if self.from_text and isinstance(value, str) else value
        except ValueError:
            number = None
        # bool is a subclass of int, and TOML's true is no number.
        if type(number) is not int or not self.low <= number <= self.high:
            raise ValueError(f"must be a whole number from {self.limits}")
        return number


@frozen
class DecimalNumber:
    """A finite number."""

    low: float = -LARGEST_FLOAT
    high: float = LARGEST_FLOAT
    from_text: bool = False

    @property
    def limits(self) -> str:
        """The smallest and the largest number; empty when any finite number will do."""
        return "" if self.high == LARGEST_FLOAT else f"{self.low:g} to {self.high:g}"

    def __call__(self, value: Any) -> float:
        """Return the number as a float."""
        kinds = (str, int, float) if self.from_text else (int, float)
        try:
            result = float(value) if isinstance(value, kinds) else math.nan
        # TOML allows whole numbers that are too large for a float.
        except (ValueError, OverflowError):
            result = math.nan
        # NaN fails every comparison, so "not between" also refuses it.
        if isinstance(value, bool) or not self.low <= result <= self.high:
            raise ValueError(f"must be a number from {self.limits}" if self.limits else
                             "must be a number")  # fmt: skip
        return result


@frozen
class TextLine:
    """A text on one line, its length in characters."""

    low: int
    high: int

    @property
    def limits(self) -> str:
        """The smallest and the largest length."""
        return f"{self.low} to {self.high} characters"

    def __call__(self, value: Any) -> str:
        """Return the text."""
        if (
            # `isprintable` also excludes line breaks and control characters, which could control
            # a terminal.
            not isinstance(value, str)
            or not self.low <= len(value) <= self.high
            or not all(character.isprintable() for character in value)
        ):
            raise ValueError(f"must be text of {self.limits} on one line")
        return value


@frozen
class TextBytes:
    """A text of any letters, its length in bytes of UTF-8, as messages limit it."""

    high: int

    @property
    def limits(self) -> str:
        """The largest length."""
        return f"up to {self.high} bytes"

    def __call__(self, value: Any) -> str:
        """Return the text."""
        if not isinstance(value, str) or len(value.encode()) > self.high:
            raise ValueError(f"must be a text of {self.limits}")
        return value


class UnknownPlaceholder(ValueError):
    """A text names a placeholder in braces that does not exist; the error quotes the name."""


@frozen
class PlaceholderText:
    """A text in which names in braces, such as ``{name}``, stand for values."""

    text: Reader
    names: tuple[str, ...]

    @property
    def limits(self) -> str:
        """The limits of the text, and the names that it may have in braces."""
        names = ", ".join(f"{{{name}}}" for name in self.names)
        return ", with ".join(part for part in (limits_of(self.text), names) if part)

    def __call__(self, value: Any) -> str:
        """Return the text."""
        text = str(self.text(value))
        for name in _PLACEHOLDER.findall(text):
            if name not in self.names:
                raise UnknownPlaceholder(unknown_key(name, self.names, f"placeholder {{{name}}}"))
        return text


@frozen
class Words:
    """One of a few words."""

    allowed: tuple[str, ...]

    @property
    def limits(self) -> str:
        """The words."""
        return ", ".join(f'"{word}"' for word in self.allowed)

    def __call__(self, value: Any) -> str:
        """Return the word."""
        if value not in self.allowed:
            raise ValueError(f"must be one of {self.limits}")
        return str(value)


@frozen
class EnumMember:
    """A member of an enum, written as its value."""

    kind: type[StrEnum]

    @property
    def limits(self) -> str:
        """The values of the members."""
        return ", ".join(f'"{one.value}"' for one in self.kind)

    def __call__(self, value: Any) -> StrEnum:
        """Return the member."""
        try:
            return self.kind(value)
        except ValueError:
            raise ValueError(f"must be one of {self.limits}") from None


@frozen
class ItemsForm:
    """A list of values that one reader checks; as text the items are separated by commas."""

    item: Reader
    most: int | None = None
    from_text: bool = False

    @property
    def limits(self) -> str:
        """The largest number of items, and the limits of one of them."""
        each = limits_of(self.item)
        count = "" if self.most is None else f"at most {self.most} items"
        return f"{count}, each {each}" if each and count else count or each

    def __call__(self, value: Any) -> tuple[Any, ...]:
        """Return the items."""
        items = value
        if self.from_text and isinstance(value, str):
            # Splitting an empty text would give one empty item.
            items = [part.strip() for part in value.split(",")] if value.strip() else []
        if not isinstance(items, (list, tuple)):
            raise ValueError("must be a list")  # noqa: TRY004  # readers raise ValueError alone
        if self.most is not None and len(items) > self.most:
            raise ValueError(f"must be a list of at most {self.most} items")
        return tuple(self.item(one) for one in items)


@frozen
class OrNone:
    """A value that may be left out: empty text stands for none."""

    item: Reader

    @property
    def limits(self) -> str:
        """The limits of the value."""
        each = limits_of(self.item)
        return f"{each}, or empty" if each else "may be empty"

    def __call__(self, value: Any) -> Any:
        """Return the value, or None."""
        return None if value == "" else self.item(value)


@frozen
class Form:
    """A reader that is a function, with the limits that people are shown.

    `write` returns what stands for a value in a file, where that is not the value's text.
    """

    read: Reader
    limits: str
    write: Callable[[Any], Any] | None = None

    def __call__(self, value: Any) -> Any:
        """Return what the function makes of a value."""
        return self.read(value)
