"""Joining small things: messages into AppCombined payloads, packets into Combined datagrams.

Owns the choice of what is joined (docs/protocol/transport.md#payloads); the shapes are
`emu.wire.packets`'.
"""

from __future__ import annotations

from collections.abc import Sequence

from emu.wire import ProtocolOpcode
from emu.wire.packets import marker_of
from emu.wire.parts import push_parts

_COMBINED = marker_of(ProtocolOpcode.COMBINED)
_APP_COMBINED = marker_of(ProtocolOpcode.APP_COMBINED)


def _join(
    marker: bytes, parts: Sequence[bytes], room: int, part_limit: int, count_limit: int
) -> list[bytes]:
    """Join neighbors that fit `room` together; one alone, or longer than the limit, stays bare.

    No more parts are joined than a receiver with the same configuration takes.
    """
    if len(parts) < 2:
        return list(parts)
    # A part has one or three bytes of length in front. `room` bounds the joined whole only: a part
    # that alone is longer is cut into fragments later, by those who know how.
    groups: list[list[bytes]] = []
    size = room
    for part in parts:
        length = len(part)
        grown = size + (1 if length < 0xFF else 3) + length
        if grown > room or length > part_limit or len(groups[-1]) == count_limit:
            groups.append([part])
            # Behind a part that must stay bare there is no room for another one.
            size = room if length > part_limit else grown - size + len(marker)
        else:
            groups[-1].append(part)
            size = grown
    return [group[0] if len(group) == 1 else marker + push_parts(group) for group in groups]


def join_messages(
    messages: Sequence[bytes], room: int, part_limit: int, count_limit: int
) -> list[bytes]:
    """Return reliable payloads for messages in order; `room` is the longest worth joining up to."""
    return _join(_APP_COMBINED, messages, room, part_limit, count_limit)


def join_packets(
    packets: Sequence[bytes], room: int, part_limit: int, count_limit: int
) -> list[bytes]:
    """Return what goes into datagrams, unsealed, for protocol packets in order."""
    return _join(_COMBINED, packets, room, part_limit, count_limit)
