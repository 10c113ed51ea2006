"""Data that come in several messages, put together by the message that they belong to.

Complete when the end is there and every message since the parent has come, of whatever kind: ids
rise by one, so a gap shows. Data whose parent has not come wait for it as long as any other.
Source: docs/protocol/administration/ggmp.md#decisions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from emu.admin.ggmp.messages import Act, Kind, Message
from emu.admin.ggmp.window import Window
from emu.times import Monotonic

MOST_BYTES: Final = 64 * 1024
MOST_PARTS: Final = 256
MOST_OPEN: Final = 8
IDLE: Final = 2.0
"""Seconds without a new part after which a transfer is forgotten."""
_IDS: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Whole:
    """An act with all of its data."""

    act: Act
    data: bytes = b""


@dataclass(slots=True)
class _Open:
    parent: int
    touched: Monotonic
    act: Act | None = None
    end: int | None = None
    size: int = 0
    parts: dict[int, bytes] = field(default_factory=dict)

    def put(self, message: Message) -> None:
        self.parts[message.id] = message.data
        self.size += len(message.data)
        if message.kind is Kind.DATA_END:
            self.end = message.id

    @property
    def is_too_large(self) -> bool:
        return self.size > MOST_BYTES or len(self.parts) > MOST_PARTS

    def whole(self, window: Window) -> Whole | None:
        """Return the act with its data when nothing is missing, in the order of the ids."""
        if self.act is None or self.end is None or not window.has_all(self.parent, self.end):
            return None
        ids = sorted(self.parts, key=lambda number: (number - self.parent) & _IDS)
        return Whole(self.act, b"".join(self.parts[number] for number in ids))


class Transfers:
    """The unfinished transfers of one peer; `dropped` counts those that came to nothing."""

    __slots__ = ("_open", "dropped")

    def __init__(self) -> None:
        self._open: dict[int, _Open] = {}
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._open)

    def take(self, message: Message, now: Monotonic) -> None:
        """Take a message that opens a transfer, or a part of one."""
        self.forget_idle(now)
        is_parent = message.act is not None
        parent = message.id if is_parent else message.parent
        transfer = self._open.get(parent) or self._begin(parent, now)
        transfer.touched = now
        if is_parent:
            transfer.act = message.act
        if not is_parent or message.data:
            transfer.put(message)
        if transfer.is_too_large:
            self._drop(parent)

    def finished(self, window: Window) -> list[Whole]:
        """Return and forget the transfers that are complete."""
        found: list[Whole] = []
        for parent, transfer in list(self._open.items()):
            whole = transfer.whole(window)
            if whole is not None:
                del self._open[parent]
                found.append(whole)
        return found

    def forget_idle(self, now: Monotonic) -> None:
        """Forget what nothing came of for a while."""
        for parent, transfer in list(self._open.items()):
            if now - transfer.touched > IDLE:
                self._drop(parent)

    def _begin(self, parent: int, now: Monotonic) -> _Open:
        if len(self._open) >= MOST_OPEN:
            self._drop(next(iter(self._open)))
        transfer = self._open[parent] = _Open(parent, now)
        return transfer

    def _drop(self, parent: int) -> None:
        del self._open[parent]
        self.dropped += 1
