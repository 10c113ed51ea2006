"""Who is in the world, told by every process over the bus. Knows no session and no zone.

A process that begins late asks the others whom they have, and each tells again when another one can
be reached. Whoever was in a process that cannot be reached any more is out of the picture here; the
bus says when that is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from emu.model import ANYBODY, Present, may_see
from emu.processes.ports import CAME, GONE, Bus, Note
from emu.times import UNKNOWN, Moment

ENTERED = "presence.entered"
LOST_LINK = "presence.lost_link"
LEFT = "presence.left"
DISMISS = "presence.dismiss"
ASKED = "presence.asked"
"""Topics. Every note names the ``process`` that tells, and all but `ASKED`'s a ``char_id``."""


class SharedPresence:
    """`Presence` over any `Bus`; `process` is a name that no other process has.

    What is noted here counts here at once, however long the bus takes. `moment` is the wall clock:
    when two processes have the same character, because they could not reach each other for a while,
    the one that let it in later keeps it.
    """

    __slots__ = ("_bus", "_by_character", "_by_name", "_moment", "_process", "_send_away")

    def __init__(
        self, bus: Bus, process: str, moment: Callable[[], Moment] = lambda: UNKNOWN
    ) -> None:
        self._bus = bus
        self._process = process
        self._moment = moment
        self._by_character: dict[int, Present] = {}
        self._by_name: dict[str, int] = {}
        self._send_away: dict[int, Callable[[], None]] = {}
        """How to send those away that are here."""
        for topic, hear in (
            (ENTERED, self._heard_entered),
            (LOST_LINK, self._heard_lost_link),
            (LEFT, self._heard_left),
            (DISMISS, self._heard_dismiss),
            (ASKED, lambda _values: self._tell_all()),
        ):
            bus.subscribe(topic, partial(self._heard, hear))
        bus.subscribe(CAME, lambda _note: self._tell_all())
        bus.subscribe(GONE, partial(self._heard, self._heard_gone))
        self._tell(ASKED)

    def __iter__(self) -> Iterator[Present]:
        """All characters that are in the world, wherever; a snapshot."""
        return iter(list(self._by_character.values()))

    @property
    def players(self) -> int:
        """Players that are in the world, link-dead ones too; hidden ones are not counted."""
        return sum(may_see(ANYBODY, one) for one in self._by_character.values())

    @property
    def zones(self) -> int:
        """Zones that somebody is in who is not hidden."""
        everybody = self._by_character.values()
        return len({one.zone_id for one in everybody if may_see(ANYBODY, one)})

    def players_besides(self, account_id: int) -> int:
        """Return how many players are in the world, not hidden, that are not this account's."""
        return sum(
            one.account_id != account_id and may_see(ANYBODY, one)
            for one in self._by_character.values()
        )

    def is_playing(self, account_id: int, *, besides: int = 0) -> bool:
        """Say whether the account has a client in the world that is not link-dead.

        The character `besides` does not count.
        """
        return any(
            one.account_id == account_id and not one.link_dead and one.char_id != besides
            for one in self._by_character.values()
        )

    def find(self, char_id: int) -> Present | None:
        """Return a character that is in the world."""
        return self._by_character.get(char_id)

    def named(self, name: str) -> Present | None:
        """Return a character that is in the world by its name, without regard to case."""
        return self._by_character.get(self._by_name.get(name.casefold(), 0))

    def entered(self, present: Present, send_away: Callable[[], None]) -> None:
        """Note that a character came in here, came back, or changed its zone."""
        self._send_away[present.char_id] = send_away
        self._put(replace(present, process=self._process, since=self._moment()))
        self._tell_of(present.char_id)

    def seen(
        self,
        char_id: int,
        *,
        away: bool | None = None,
        hidden: bool | None = None,
        name: str | None = None,
    ) -> None:
        """Note how a character that is here is seen now; None for what is as it was."""
        found = self._own(char_id)
        if found is not None:
            away = found.away if away is None else away
            hidden = found.hidden if hidden is None else hidden
            name = found.name if name is None else name
            self._put(replace(found, away=away, hidden=hidden, name=name))
            self._tell_of(char_id)

    def lost_link(self, char_id: int) -> None:
        """Note that a character's client is gone without leaving the world."""
        if self._own(char_id) is not None:
            self._lost_link(char_id)
            self._tell(LOST_LINK, char_id=char_id)

    def left(self, char_id: int) -> None:
        """Note that a character is out of the world; one that is elsewhere by now stays there."""
        if self._own(char_id) is not None:
            self._drop(char_id)
            self._tell(LEFT, char_id=char_id)

    def forget(self, char_id: int) -> None:
        """Make sure that a character is not noted as being here; nobody else is told."""
        if self._own(char_id) is not None:
            self._drop(char_id)

    def dismiss(self, char_id: int) -> None:
        """Send a character away, wherever it is."""
        self._heard_dismiss({"char_id": char_id})
        self._tell(DISMISS, char_id=char_id)

    # -- telling --------------------------------------------------------------------------------

    def _tell_all(self) -> None:
        for char_id in list(self._send_away):
            self._tell_of(char_id)

    def _tell_of(self, char_id: int) -> None:
        self._tell(ENTERED, **asdict(self._by_character[char_id]))

    def _tell(self, topic: str, **values: Any) -> None:
        self._bus.publish(topic, {**values, "process": self._process})

    # -- hearing --------------------------------------------------------------------------------

    def _heard(self, hear: Callable[[dict[str, Any]], None], note: Note) -> None:
        """Hand a note of another process on; one's own was heeded when it was told."""
        if note["process"] != self._process:
            hear(dict(note))

    def _heard_entered(self, values: dict[str, Any]) -> None:
        present = Present(**values)
        own = self._own(present.char_id)
        if own is not None and own.since > present.since:
            self._tell_of(own.char_id)
            return
        send_away = self._send_away.pop(present.char_id, None)
        self._put(present)
        if send_away is not None:
            send_away()

    def _heard_lost_link(self, values: dict[str, Any]) -> None:
        if self._is_told_by_its_own(values):
            self._lost_link(values["char_id"])

    def _heard_left(self, values: dict[str, Any]) -> None:
        if self._is_told_by_its_own(values):
            self._drop(values["char_id"])

    def _heard_dismiss(self, values: dict[str, Any]) -> None:
        send_away = self._send_away.get(values["char_id"])
        if send_away is not None:
            send_away()

    def _heard_gone(self, values: dict[str, Any]) -> None:
        for one in self:
            if one.process == values["process"]:
                self._drop(one.char_id)

    # -- the picture ----------------------------------------------------------------------------

    def _own(self, char_id: int) -> Present | None:
        return self._by_character[char_id] if char_id in self._send_away else None

    def _is_told_by_its_own(self, values: dict[str, Any]) -> bool:
        """Say whether the process that tells of a character is the one it is in."""
        found = self._by_character.get(values["char_id"])
        return found is not None and found.process == values["process"]

    def _put(self, present: Present) -> None:
        before = self._by_character.get(present.char_id)
        if before is not None and before.name != present.name:
            self._forget_name(before)
        self._by_character[present.char_id] = present
        self._by_name[present.name.casefold()] = present.char_id

    def _lost_link(self, char_id: int) -> None:
        self._put(replace(self._by_character[char_id], link_dead=True))

    def _drop(self, char_id: int) -> None:
        self._send_away.pop(char_id, None)
        gone = self._by_character.pop(char_id, None)
        if gone is not None:
            self._forget_name(gone)

    def _forget_name(self, gone: Present) -> None:
        if self._by_name.get(gone.name.casefold()) == gone.char_id:
            del self._by_name[gone.name.casefold()]
