"""What was sent and waits for its Ack: sent again after one, two and three waits, then lost.

With the usual wait of 30 ms that is at 0, 30, 90 and 180 ms, and lost at 300 ms. Source:
docs/protocol/administration/ggmp.md#decisions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from emu.times import Monotonic

WAIT: Final = 0.03
"""Seconds to the first repetition."""
SENDINGS: Final = 4
MOST_WAITING: Final = 256


@dataclass(slots=True)
class _Waiting:
    datagram: bytes
    sent: int
    due: Monotonic


class Outbox:
    """The messages of one end that wait; `lost` counts those that nobody ever acknowledged."""

    __slots__ = ("_wait", "_waiting", "lost")

    def __init__(self, wait: float = WAIT) -> None:
        self._wait = wait
        self._waiting: dict[int, _Waiting] = {}
        self.lost = 0

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_full(self) -> bool:
        """Whether nothing more may wait."""
        return len(self._waiting) >= MOST_WAITING

    def put(self, number: int, datagram: bytes, now: Monotonic) -> None:
        """Note a message that is sent now."""
        self._waiting[number] = _Waiting(datagram, 1, Monotonic(now + self._wait))

    def acknowledged(self, number: int) -> bool:
        """Let go of a message; False when it does not wait."""
        return self._waiting.pop(number, None) is not None

    def get_timer(self) -> Monotonic | None:
        """Return when the next one is due."""
        return min((waiting.due for waiting in self._waiting.values()), default=None)

    def handle_timer(self, now: Monotonic) -> list[bytes]:
        """Return what is to be sent again now; forget what is lost."""
        again: list[bytes] = []
        for number, waiting in list(self._waiting.items()):
            if waiting.due > now:
                continue
            if waiting.sent == SENDINGS:
                del self._waiting[number]
                self.lost += 1
                continue
            waiting.sent += 1
            waiting.due = Monotonic(now + waiting.sent * self._wait)
            again.append(waiting.datagram)
        return again
