"""Elementary types of OGP: bit arrays, numbers of any size, and names with colors.

A bit array is an int, in which bit n.x of the protocol's text is bit 7n + x (`bit`). Raises
`MalformedMessage`.

Source: docs/protocol/administration/ogp.md#elements, docs/protocol/administration/ogp.md#colors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from emu.admin.reader import Reader, clamped, text_bytes
from emu.errors import MalformedMessage

LONGEST_BITS: Final = 16
"""Maximum bytes of a bit array; the longest useful one has four."""


def bit(byte: int, number: int) -> int:
    """Return the flag that the protocol's text calls ``byte.number``."""
    return 1 << (7 * byte + number)


def push_bits(bits: int) -> bytes:
    """Return the shortest encoding of a bit array, at least one byte."""
    # Most bit arrays have one byte.
    if bits < 0x80:
        return bits.to_bytes(1, "little")
    out = bytearray()
    while bits >= 0x80:
        out.append(bits & 0x7F | 0x80)
        bits >>= 7
    out.append(bits)
    return bytes(out)


def pull_bits(reader: Reader) -> int:
    """Read a bit array."""
    bits = shift = 0
    # Bounded: a stream of bytes with the top bit set would make the number grow without end.
    for _ in range(LONGEST_BITS):
        byte = reader.unsigned(1)
        bits |= (byte & 0x7F) << shift
        if byte < 0x80:
            return bits
        shift += 7
    raise MalformedMessage("bit array too long")


class _Size(NamedTuple):
    """One of the sizes that a number may have."""

    prefix: bytes
    """The bytes before the number."""
    size: int
    fits: range
    """The numbers that fit into this size."""


_U32: Final = range(1 << 32)
_I32: Final = range(-(1 << 31), 1 << 31)


class Numbers:
    """A version's encoding of numbers that are mostly small, as a list of sizes.

    A number out of 32 bits is sent as the nearest limit.
    """

    unsigned: tuple[_Size, ...]
    signed: tuple[_Size, ...]

    def push_uint(self, number: int) -> bytes:
        """Return a VarUINT8-32."""
        return _push(number, self.unsigned)

    def pull_uint(self, reader: Reader) -> int:
        """Read a VarUINT8-32."""
        return _pull(reader, self.unsigned)

    def push_sint(self, number: int) -> bytes:
        """Return a VarSINT8-32."""
        return _push(number, self.signed)

    def pull_sint(self, reader: Reader) -> int:
        """Read a VarSINT8-32."""
        return _pull(reader, self.signed)


class Numbers91(Numbers):
    """Version 0.91: the largest number of each size means that the next size follows."""

    unsigned = (
        _Size(b"", 1, range(0xFF)),
        _Size(b"\xff", 2, range(0xFFFF)),
        # The two bytes FFFF after FF mean that the number of four bytes follows.
        _Size(b"\xff\xff\xff", 4, _U32),
    )
    signed = (
        _Size(b"", 1, range(-0x7F, 0x80)),
        _Size(b"\x80", 2, range(-0x7FFF, 0x8000)),
        _Size(b"\x80\x00\x80", 4, _I32),
    )


class Numbers94(Numbers):
    """Version 0.94: each larger size has its own first byte."""

    unsigned = (
        _Size(b"", 1, range(0xFE)),
        # FE and FF are prefixes, so only smaller numbers have one byte.
        _Size(b"\xfe", 2, range(0x10000)),
        _Size(b"\xff", 4, _U32),
    )
    signed = (
        _Size(b"", 1, range(-0x7E, 0x80)),
        _Size(b"\x80", 2, range(-0x8000, 0x8000)),
        _Size(b"\x81", 4, _I32),
    )


def _push(number: int, sizes: Sequence[_Size]) -> bytes:
    most = sizes[-1].fits
    number = max(most.start, min(number, most.stop - 1))
    # The sizes are in growing order, so the first one that fits is the shortest.
    prefix, size, _ = next(one for one in sizes if number in one.fits)
    return prefix + number.to_bytes(size, "little", signed=most.start < 0)


def _pull(reader: Reader, sizes: Sequence[_Size]) -> int:
    # The longest prefix first: the shorter ones are its beginning.
    found = (one for one in reversed(sizes) if reader.data.startswith(one.prefix, reader.at))
    prefix, size, fits = next(found)
    reader.take(len(prefix))
    return int.from_bytes(reader.take(size), "little", signed=fits.start < 0)


WIDE: Final = range(0x90, 0xA0)
"""Values with a color of 16 bits: red 5, green 6, blue 5."""


@dataclass(frozen=True, slots=True)
class ColorChange:
    """A change of the style from a byte of the name on."""

    position: int
    """The position in bytes of UTF-8."""
    value: int
    """00-0F VGA color, 10 default, 20-2F background, 30 default background, 40-42 bold, underlined,
    cursive, 90 and 91 a color or background of 16 bits."""
    color: int = 0
    """16 bits, for values in `WIDE`."""


@dataclass(frozen=True, slots=True)
class Name:
    """A text with colors, in the order of positions."""

    text: str
    colors: tuple[ColorChange, ...] = ()

    def __str__(self) -> str:
        return self.text


def push_name(name: Name, numbers: Numbers, *, colored: bool) -> bytes:
    """Return a name, with its colors after it if they were requested."""
    text = text_bytes(name.text)
    if not colored:
        return text
    entries = b"".join(_entries(name.colors, numbers))
    return text + numbers.push_uint(len(entries)) + entries


def _entries(colors: Iterable[ColorChange], numbers: Numbers) -> Iterable[bytes]:
    last = 0
    # Positions are sent as the distance from the color before.
    for change in colors:
        wide = clamped(change.color, 2) if change.value in WIDE else b""
        yield numbers.push_uint(change.position - last) + clamped(change.value, 1) + wide
        last = change.position


def pull_name(reader: Reader, numbers: Numbers, *, colored: bool) -> Name:
    """Read a name, with its colors if there are any."""
    text = reader.text()
    if not colored:
        return Name(text)
    # The entries have a length of their own, so unknown ones cannot shift the fields behind them.
    entries = Reader(reader.take(numbers.pull_uint(reader)))
    colors, position = [], 0
    while not entries.is_done:
        position += numbers.pull_uint(entries)
        value = entries.unsigned(1)
        color = entries.unsigned(2) if value in WIDE else 0
        colors.append(ColorChange(position, value, color))
    return Name(text, tuple(colors))
