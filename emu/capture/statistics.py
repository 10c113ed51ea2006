"""Statistics of a capture: how many messages of each name there are, and how large they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from emu.capture.messages import CapturedCommand, CapturedMessage

COLUMNS: Final = (
    "name", "opcode", "direction", "messages", "bytes", "smallest", "mean", "largest",
    "per_second", "bytes_per_second", "undecoded",
)  # fmt: skip
"""The columns of `MessageStatistics.rows`."""


@dataclass(slots=True)
class MessageFigures:
    """The count and sizes of one kind of message. Sizes are bytes of payload, without opcode."""

    messages: int = 0
    bytes: int = 0
    smallest: int = 0
    largest: int = 0
    undecoded: int = 0
    """Messages with bytes that were not decoded."""

    def count_message(self, one: CapturedMessage | CapturedCommand) -> None:
        """Count one message or command."""
        size = len(one.payload)
        # Without a message yet, `smallest` is 0 and no size.
        self.smallest = min(size, self.smallest) if self.messages else size
        self.largest = max(size, self.largest)
        self.messages += 1
        self.bytes += size
        # An empty payload has nothing to decode.
        self.undecoded += bool(size and one.undecoded is not None)


@dataclass(slots=True)
class MessageStatistics:
    """Counts messages by name, number and direction. Its memory depends on the kinds alone.

    An opcode has 16 bits, so there are at most 65,536 kinds in each direction, and as many of
    commands.
    """

    kinds: dict[tuple[bool, int, str, bool], MessageFigures] = field(default_factory=dict)
    """Figures by direction (`to_server`), opcode, name, and whether it is a command."""
    totals: dict[bool, MessageFigures] = field(default_factory=dict)
    """Figures of all messages of a direction; commands are not counted again."""
    first: float | None = None
    last: float = 0.0

    @property
    def seconds(self) -> float:
        """Seconds from the earliest message to the latest one."""
        return 0.0 if self.first is None else self.last - self.first

    def count_message(self, message: CapturedMessage) -> None:
        """Count a message, and each command in it."""
        # Messages of several sessions may be out of order, so first and last are computed.
        t = message.t
        self.first = t if self.first is None else min(t, self.first)
        self.last = max(t, self.last)
        self.totals.setdefault(message.to_server, MessageFigures()).count_message(message)
        self._add(message, to_server=message.to_server, is_command=False)
        for command in message.commands or ():
            self._add(command, to_server=message.to_server, is_command=True)

    def _add(
        self, one: CapturedMessage | CapturedCommand, *, to_server: bool, is_command: bool
    ) -> None:
        key = to_server, one.opcode, one.name or "unknown", is_command
        figures = self.kinds.get(key)
        if figures is None:
            figures = self.kinds[key] = MessageFigures()
        figures.count_message(one)

    def rows(self) -> list[dict[str, str | int | float | bool | None]]:
        """Return a row of `COLUMNS` for each kind, that with the most bytes first.

        The name of a command begins with ``OP_ClientCmdMsg/``. Its bytes are also counted in the
        row of OP_ClientCmdMsg. Rates are None if the capture has no duration.
        """
        ordered = sorted(self.kinds.items(), key=lambda item: (-item[1].bytes, item[0]))
        return [self._row(*key, figures) for key, figures in ordered]

    def _row(
        self, to_server: bool, opcode: int, name: str, is_command: bool, figures: MessageFigures
    ) -> dict[str, str | int | float | bool | None]:
        seconds = self.seconds
        return {
            "name": f"OP_ClientCmdMsg/{name}" if is_command else name,
            "opcode": opcode,
            "direction": direction_name(to_server),
            "messages": figures.messages,
            "bytes": figures.bytes,
            "smallest": figures.smallest,
            "mean": round(figures.bytes / figures.messages, 1),
            "largest": figures.largest,
            "per_second": round(figures.messages / seconds, 3) if seconds else None,
            "bytes_per_second": round(figures.bytes / seconds, 1) if seconds else None,
            "undecoded": figures.undecoded,
        }


def direction_name(to_server: bool) -> str:
    """Return ``to server`` or ``to client``, as JSON output has it."""
    return "to server" if to_server else "to client"
