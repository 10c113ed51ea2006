"""Where the letters of a name change their color: StringColorInfo.

Source: docs/protocol/administration/ogp.md#colors. Raises `MalformedMessage`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from emu.admin.ogp.elements import Numbers
from emu.admin.reader import Reader, clamped, text_bytes

WIDE: Final = range(0x90, 0xA0)
"""Values that a color of 16 bits follows: red 5, green 6, blue 5."""


@dataclass(frozen=True, slots=True)
class ColorChange:
    """From a byte of the name on, letters look otherwise."""

    position: int
    """Byte of the name in UTF-8."""
    value: int
    """00-0F VGA color, 10 default, 20-2F background, 30 default background, 40-42 bold, underlined,
    cursive, 90 and 91 a color or background of 16 bits."""
    color: int = 0
    """Of 16 bits, for values in `WIDE`."""


@dataclass(frozen=True, slots=True)
class Name:
    """A text whose letters may have colors; `colors` is in the order of positions."""

    text: str
    colors: tuple[ColorChange, ...] = ()

    def __str__(self) -> str:
        return self.text


def push_name(name: Name, numbers: Numbers, *, colored: bool) -> bytes:
    """Return a name, with its colors behind it when they were asked for."""
    text = text_bytes(name.text)
    if not colored:
        return text
    entries = b"".join(_entries(name.colors, numbers))
    return text + numbers.push_uint(len(entries)) + entries


def _entries(colors: Iterable[ColorChange], numbers: Numbers) -> Iterable[bytes]:
    last = 0
    for change in colors:
        wide = clamped(change.color, 2) if change.value in WIDE else b""
        yield numbers.push_uint(change.position - last) + clamped(change.value, 1) + wide
        last = change.position


def pull_name(reader: Reader, numbers: Numbers, *, colored: bool) -> Name:
    """Read a name, with its colors when they are there."""
    text = reader.text()
    if not colored:
        return Name(text)
    entries = Reader(reader.take(numbers.pull_uint(reader)))
    colors, position = [], 0
    while not entries.is_done:
        position += numbers.pull_uint(entries)
        value = entries.unsigned(1)
        color = entries.unsigned(2) if value in WIDE else 0
        colors.append(ColorChange(position, value, color))
    return Name(text, tuple(colors))
