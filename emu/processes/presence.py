"""Who is in the world, told by every process over the bus. Knows no session and no zone.

A process that begins late asks the others whom they have. One that ends without a word leaves its
players behind in the others' pictures; telling of its end is the business of what ran it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from emu.model import Present
from emu.processes.ports import Bus, Note

ENTERED = "presence.entered"
LOST_LINK = "presence.lost_link"
LEFT = "presence.left"
DISMISS = "presence.dismiss"
ASKED = "presence.asked"
"""Topics. Every note names the ``process`` that tells, and all but `ASKED`'s a ``char_id``."""


class SharedPresence:
    """`Presence` over any `Bus`; `process` is a name that no other process has.

    What is noted here counts here at once, however long the bus takes.
    """

    __slots__ = ("_bus", "_by_character", "_process", "_send_away")

    def __init__(self, bus: Bus, process: str) -> None:
        self._bus = bus
        self._process = process
        self._by_character: dict[int, Present] = {}
        self._send_away: dict[int, Callable[[], None]] = {}
        """How to end the sessions of those that are here."""
        for topic, hear in (
            (ENTERED, self._heard_entered),
            (LOST_LINK, self._heard_lost_link),
            (LEFT, self._heard_left),
            (DISMISS, self._heard_dismiss),
            (ASKED, self._heard_asked),
        ):
            bus.subscribe(topic, partial(self._heard, hear))
        self._tell(ASKED)

    @property
    def players(self) -> int:
        """Players that are in the world, link-dead ones too."""
        return len(self._by_character)

    @property
    def zones(self) -> int:
        """Zones that somebody is in."""
        return len({one.zone_id for one in self._by_character.values()})

    def players_besides(self, account_id: int) -> int:
        """Return how many players are in the world that are not this account's."""
        return sum(one.account_id != account_id for one in self._by_character.values())

    def is_playing(self, account_id: int) -> bool:
        """Say whether the account has a client in the world that is not link-dead."""
        return any(
            one.account_id == account_id and not one.link_dead
            for one in self._by_character.values()
        )

    def find(self, char_id: int) -> Present | None:
        """Return a character that is in the world."""
        return self._by_character.get(char_id)

    def entered(
        self, account_id: int, char_id: int, zone_id: int, send_away: Callable[[], None]
    ) -> None:
        """Note that a character came in here, came back, or changed its zone."""
        self._send_away[char_id] = send_away
        self._by_character[char_id] = Present(account_id, char_id, zone_id)
        self._tell_entered(char_id)

    def lost_link(self, char_id: int) -> None:
        """Note that a character's client is gone without leaving the world."""
        self._heard_lost_link({"char_id": char_id})
        self._tell(LOST_LINK, char_id=char_id)

    def left(self, char_id: int) -> None:
        """Note that a character is out of the world."""
        self._heard_left({"char_id": char_id})
        self._tell(LEFT, char_id=char_id)

    def dismiss(self, char_id: int) -> None:
        """Send a character away, wherever it is; it leaves when its session is over."""
        self._heard_dismiss({"char_id": char_id})
        self._tell(DISMISS, char_id=char_id)

    def _tell_entered(self, char_id: int) -> None:
        self._tell(ENTERED, **asdict(self._by_character[char_id]))

    def _tell(self, topic: str, **values: int) -> None:
        self._bus.publish(topic, {"process": self._process, **values})

    def _heard(self, hear: Callable[[dict[str, Any]], None], note: Note) -> None:
        """Hand a note of another process on; one's own was heeded when it was told."""
        values = dict(note)
        if values.pop("process") != self._process:
            hear(values)

    def _heard_entered(self, values: dict[str, Any]) -> None:
        present = Present(**values)
        self._by_character[present.char_id] = present
        self._send_away.pop(present.char_id, None)

    def _heard_lost_link(self, values: dict[str, Any]) -> None:
        found = self._by_character.get(values["char_id"])
        if found is not None:
            self._by_character[found.char_id] = replace(found, link_dead=True)

    def _heard_left(self, values: dict[str, Any]) -> None:
        self._by_character.pop(values["char_id"], None)
        self._send_away.pop(values["char_id"], None)

    def _heard_dismiss(self, values: dict[str, Any]) -> None:
        send_away = self._send_away.get(values["char_id"])
        if send_away is not None:
            send_away()

    def _heard_asked(self, _values: dict[str, Any]) -> None:
        for char_id in self._send_away:
            self._tell_entered(char_id)
