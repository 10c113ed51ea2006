"""The packed form, XOR deltas, and the commands inside OP_ClientCmdMsg.

Spawns, the character sheet, books, the inventory and predictions are sent packed: as runs of zeros
and groups of seven bytes. A struct that is sent repeatedly is XORed with its previous value first,
so unchanged bytes are zeros. This module works on bytes and knows no fields. The caller's size
bounds every result. Source: docs/protocol/structs.md#packed, docs/protocol/structs.md#client-cmd.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from emu.errors import MalformedMessage, StructValueError
from emu.versions import LAST_OLD_CLIENT, LAST_UNREVERSED_PACK

_TOKENS: Final = re.compile(rb"\0{1,127}|[^\0].{0,6}", re.DOTALL)
"""What one code byte encodes: up to 127 zeros, or up to seven bytes of which the first is not 0."""
_NONZERO: Final = bytes((0, *[1] * 255))
_GROUP: Final = 7


def _places(code: int) -> tuple[int, ...]:
    return tuple(bit for bit in range(_GROUP) if code >> bit & 1)


_PLACES: Final = tuple(_places(code) for code in range(128))
"""For the low seven bits of a code byte: the places of its literals in the group."""
_REVERSED_PLACES: Final = tuple(places[::-1] for places in _PLACES)
_CODES: Final = {
    bytes(bits >> place & 1 for place in range(length)): 0x80 | bits
    for length in range(1, _GROUP + 1)
    for bits in range(1, 1 << length)
}
"""The code byte of each pattern of zero and nonzero bytes."""


def reverses_literals(version: int) -> bool:
    """Return whether a client version has the literals of each group in reverse order.

    Versions 2 to 374 have them in source order (docs/protocol/structs.md#packed).
    """
    return not 2 <= version <= LAST_UNREVERSED_PACK


def pack_stream(data: bytes, *, reverse: bool) -> bytes:
    """Return the packed stream of `data`, without a length in front (as in ghost updates)."""
    # The regular expression and `translate` do the work per byte in C; a loop over bytes in Python
    # takes several times as long.
    step = -1 if reverse else 1
    out = bytearray()
    for token in _TOKENS.findall(data):
        if token[0]:
            # The pattern of zero and nonzero bytes is the code; the table has all 127 of them.
            out.append(_CODES[token.translate(_NONZERO)])
            out += token.replace(b"\0", b"")[::step]
        else:
            out.append(len(token))
    return bytes(out)


def pack_before(data: bytes, after: bytes, *, reverse: bool) -> tuple[bytes, int]:
    """Return `data` packed as the begin of a stream that goes on with `after`.

    The second number is how many bytes of `after` are in it already, 0 to 6: a group always has
    seven bytes, so the last one may reach across the end of `data`.
    """
    size, step = len(data), -1 if reverse else 1
    if not data:
        return b"", 0
    out = bytearray()
    for found in _TOKENS.finditer(data + after[: _GROUP - 1]):
        token = found[0]
        if token[0]:
            out.append(_CODES[token.translate(_NONZERO)])
            out += token.replace(b"\0", b"")[::step]
        else:
            out.append(len(token))
        if found.end() >= size:
            return bytes(out), found.end() - size
    return bytes(out), 0


def unpack_stream(
    data: bytes, size: int, *, reverse: bool, offset: int = 0, end: int | None = None
) -> tuple[bytes, int]:
    """Return `size` bytes unpacked from `data[offset:end]`, and the offset of the stream's end.

    The last group or run of zeros may exceed `size`; the excess is cut off
    (docs/protocol/structs.md#packed). Raises `MalformedMessage` if the stream ends too early.
    """
    at = offset
    stop = len(data) if end is None else min(end, len(data))
    all_places = _REVERSED_PLACES if reverse else _PLACES
    # One group longer than `size`, so that the last group needs no check of the end.
    out = bytearray(size + _GROUP)
    filled = 0
    while filled < size:
        if at >= stop:
            raise MalformedMessage("packed stream ends early")
        code = data[at]
        at += 1
        # A code of 0 adds nothing, but the offset has moved, so a stream of zero codes ends as
        # well.
        if code < 0x80:
            filled += code
            continue
        places = all_places[code & 0x7F]
        if at + len(places) > stop:
            raise MalformedMessage("packed stream ends early")
        # Bytes that are not listed stay zero: `out` was made of zeros.
        for place in places:
            out[filled + place] = data[at]
            at += 1
        filled += _GROUP
    return bytes(out[:size]), at


def pack(data: bytes, version: int) -> bytes:
    """Return `data` packed for a client version: u32 length of the stream, then the stream."""
    stream = pack_stream(data, reverse=reverses_literals(version))
    return len(stream).to_bytes(4, "little") + stream


def unpack(data: bytes, size: int, version: int, offset: int = 0) -> tuple[bytes, int]:
    """Return `size` bytes unpacked from a u32 length and its stream, and the stream's end.

    Raises `MalformedMessage` if the stream is cut, or shorter or longer than `size` needs.
    """
    start = offset + 4
    if start > len(data):
        raise MalformedMessage("packed stream without a length")
    stop = start + int.from_bytes(data[offset:start], "little")
    if stop > len(data):
        raise MalformedMessage("packed stream ends early")
    # An old client that is sent the other order shows wrong values without any error.
    reverse = reverses_literals(version)
    made, end = unpack_stream(data, size, reverse=reverse, offset=start, end=stop)
    if end != stop:
        raise MalformedMessage("bytes behind the packed stream")
    return made, stop


def xor(one: bytes, other: bytes) -> bytes:
    """Return the XOR of two byte strings. Raises `StructValueError` if their lengths differ."""
    if len(one) != len(other):
        raise StructValueError(f"XOR of {len(one)} with {len(other)} bytes")
    # One XOR of two big integers: about ten times as fast as a loop over bytes.
    number = int.from_bytes(one, "little") ^ int.from_bytes(other, "little")
    return number.to_bytes(len(one), "little")


class DeltaBase:
    """The baseline of one struct at one receiver: zeros at first, then the bytes sent last.

    Both sides keep a baseline for each struct and receiver. `encode` moves it, so the result of
    `encode` must be sent (docs/protocol/structs.md#packed).
    """

    __slots__ = ("_last",)

    def __init__(self, size: int) -> None:
        self._last = bytes(size)

    @property
    def last(self) -> bytes:
        """The bytes that were sent or received last."""
        return self._last

    def encode(self, new: bytes) -> bytes:
        """Return the XOR of `new` with the baseline, and make `new` the baseline."""
        delta = xor(new, self._last)
        self._last = new
        return delta

    def decode(self, delta: bytes) -> bytes:
        """Apply a delta to the baseline and return the result.

        Raises `MalformedMessage` if the delta has another length.
        """
        if len(delta) != len(self._last):
            raise MalformedMessage("length of the delta does not match its baseline")
        # The old value XOR the change is the new value.
        self._last = xor(delta, self._last)
        return self._last

    def reset(self, data: bytes | None = None) -> None:
        """Set the baseline to zeros, or to bytes that were sent whole.

        Raises `StructValueError` if they have another length.
        """
        if data is not None and len(data) != len(self._last):
            raise StructValueError(
                f"a baseline of {len(self._last)} bytes cannot become {len(data)} bytes"
            )
        self._last = bytes(len(self._last)) if data is None else data


def pack_counted(count: int, records: bytes, tail: bytes, version: int) -> bytes:
    """Return a count packet: u16 count, u32 length and packed records, plain tail.

    Books and the inventory have this form (docs/protocol/structs.md#packed,
    docs/protocol/world/entering.md#books).
    """
    if not 0 <= count <= 0xFFFF:
        raise StructValueError(f"count {count} does not fit 16 bits")
    return count.to_bytes(2, "little") + pack(records, version) + tail


def unpack_counted(
    data: bytes, record_size: int, tail_size: int, version: int, *, lead: int = 0,
    limit: int = 1 << 20,
) -> tuple[int, bytes, bytes]:  # fmt: skip
    """Return count, records and tail of a count packet; all sizes are in bytes.

    `lead` is the number of bytes that are packed in front of the records, if there is a record;
    they belong to the returned records.

    Raises `MalformedMessage` if the lengths do not match or the records exceed `limit`.
    """
    if len(data) < 6 + tail_size:
        raise MalformedMessage("count packet cut short")
    count = int.from_bytes(data[:2], "little")
    # Checked before unpacking: a count of 65,535 would otherwise allocate that many records.
    if count * record_size > limit:
        raise MalformedMessage("count packet beyond its limit")
    records, end = unpack(data, count * record_size + lead * (count > 0), version, offset=2)
    if len(data) - end != tail_size:
        raise MalformedMessage("bytes behind the packed records")
    return count, records, data[end:]


_BYTE_LIMIT: Final = 255


def oversized(value: int) -> bytes:
    """Return a number as one byte below 255, else FF and a u16.

    Source: docs/protocol/structs.md#oversized.
    """
    if value < _BYTE_LIMIT:
        return bytes((value,))
    return b"\xff" + value.to_bytes(2, "little")


def read_oversized(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at an offset, and where it ends. Raises `MalformedMessage`."""
    end = at + (3 if data[at : at + 1] == b"\xff" else 1)
    if end > len(data):
        raise MalformedMessage("number cut short")
    return (data[at] if end == at + 1 else int.from_bytes(data[at + 1 : end], "little")), end


EXAMINE_INFO: Final = "OP_EqExamineInfoCmd"
"""The command of an examine window; above version 561, EQ2Emulator gives some a wrong size."""
LAST_SHORT_SIZE: Final = LAST_UNREVERSED_PACK
"""Up to this client version a size is one byte, or FF and a u16; above it, a u32."""
_SHORT: Final = 0xFF
_HEAD: Final = 3
"""Bytes between the size and the payload: FF and the u16 sub-opcode. The size counts them too."""
_EXAMINE_LESS: Final = 9
"""EQ2Emulator gives the window of an effect the size 2n-9 (docs/protocol/structs.md#client-cmd)."""


class ClientCmd(NamedTuple):
    """One command: its sub-opcode and its payload."""

    opcode: int
    payload: bytes


def write_client_cmd(opcode: int, payload: bytes, version: int) -> bytes:
    """Return one command with its size. A body of OP_ClientCmdMsg is one or more of these.

    Raises `StructValueError` if the opcode or the length does not fit.
    """
    if not 0 <= opcode <= 0xFFFF:
        raise StructValueError(f"sub-opcode {opcode} does not fit 16 bits")
    size = len(payload) + _HEAD
    head = b"\xff" + opcode.to_bytes(2, "little")
    if version > LAST_SHORT_SIZE:
        return size.to_bytes(4, "little") + head + payload
    if size < _SHORT:
        return bytes((size,)) + head + payload
    if size > 0xFFFF:
        raise StructValueError(f"a command of {size} bytes is too long for version {version}")
    return b"\xff" + size.to_bytes(2, "little") + head + payload


def read_client_cmds(
    body: bytes, version: int, *, examine_info: int | None = None
) -> list[ClientCmd]:
    """Return the commands of a body of OP_ClientCmdMsg in order, none for an empty body.

    `examine_info` is the number of OP_EqExamineInfoCmd at this version: above 561 the last command
    of a body may be one with a size of EQ2Emulator's (docs/protocol/structs.md#client-cmd). An
    opcode below 255 may also be one byte, as in messages. Raises `MalformedMessage` if a size does
    not match the bytes.
    """
    return list(each_client_cmd(body, version, examine_info=examine_info))


def each_client_cmd(
    body: bytes, version: int, *, examine_info: int | None = None
) -> Iterator[ClientCmd]:
    """Yield the commands of a body; raise at the first damaged one."""
    examine = None
    if examine_info is not None and version > LAST_OLD_CLIENT:
        examine = b"\xff" + examine_info.to_bytes(2, "little")
    at = 0
    while at < len(body):
        start, size = _read_size(body, at, version)
        if body[start : start + _HEAD] == examine:
            size = _examine_size(size, len(body) - start)
        at = start + size
        # A size of 0 would never advance, and the loop would not end.
        if size == 0 or at > len(body):
            raise MalformedMessage("command with a size that does not fit")
        if body[start] != _SHORT:
            yield ClientCmd(body[start], body[start + 1 : at])
            continue
        if size < _HEAD:
            raise MalformedMessage("command without its opcode")
        opcode = int.from_bytes(body[start + 1 : start + _HEAD], "little")
        yield ClientCmd(opcode, body[start + _HEAD : at])


def _examine_size(size: int, rest: int) -> int:
    """Return the true size of an examine window of which `rest` bytes are at hand."""
    # A size that fits is right: most windows have it. The wrong ones are larger than the message.
    if size > rest and (size - 1 == rest or size == 2 * rest - _EXAMINE_LESS):
        return rest
    return size


def _read_size(body: bytes, at: int, version: int) -> tuple[int, int]:
    """Return the offset of the command behind its size, and the size."""
    if version > LAST_SHORT_SIZE:
        start = at + 4
        size = int.from_bytes(body[at:start], "little")
    elif body[at] != _SHORT:
        return at + 1, body[at]
    else:
        start = at + 3
        size = int.from_bytes(body[at + 1 : start], "little")
    if start > len(body):
        raise MalformedMessage("command without its size")
    return start, size
