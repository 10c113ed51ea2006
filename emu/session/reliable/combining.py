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
    # A part has one or three bytes of length in front. `room` bounds the joined whole only: a part
    # that alone is longer is cut into fragments later, by those who know how.
    joined: list[bytes] = []
    group: list[bytes] = []
    size = len(marker)
    for part in parts:
        length = len(part)
        if length > part_limit:
            if group:  # what came before must stay before
                joined.append(_wrap(marker, group))
                group, size = [], len(marker)
            joined.append(part)
            continue
        grown = size + (1 if length < 0xFF else 3) + length
        if group and (grown > room or len(group) == count_limit):
            joined.append(_wrap(marker, group))
            group = [part]
            size = len(marker) + (1 if length < 0xFF else 3) + length
        else:
            group.append(part)
            size = grown
    if group:
        joined.append(_wrap(marker, group))
    return joined


def _wrap(marker: bytes, group: Sequence[bytes]) -> bytes:
    if len(group) == 1:
        return group[0]
    return marker + push_parts(group)


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
