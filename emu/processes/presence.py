"""The characters in the world, shared by every process over the bus.

A process that starts late asks the others for theirs, and each publishes its own again when another
process can be reached. The characters of a process that can no longer be reached are removed.
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
"""Topics. Every note has its sender in ``process``, and all but `ASKED` have a ``char_id``."""


class SharedPresence:
    """`Presence` over any `Bus`; `process` is the unique name of this process.

    A change takes effect in this process at once, however long the bus takes. `moment` is the wall
    clock: when two processes that could not reach each other have let in the same character, the
    later entry wins.
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
        """How to take each character of this process out of the world."""
        for topic, hear in (
            (ENTERED, self._heard_entered),
            (LOST_LINK, self._heard_lost_link),
            (LEFT, self._heard_left),
            (DISMISS, self._heard_dismiss),
            (ASKED, lambda _values: self._publish_all()),
        ):
            bus.subscribe(topic, partial(self._heard, hear))
        bus.subscribe(CAME, lambda _note: self._publish_all())
        bus.subscribe(GONE, partial(self._heard, self._heard_gone))
        self._publish(ASKED)

    def __iter__(self) -> Iterator[Present]:
        """All characters in the world, of every process; a snapshot."""
        return iter(list(self._by_character.values()))

    @property
    def players(self) -> int:
        """Players in the world, link-dead ones included, hidden ones not."""
        return sum(may_see(ANYBODY, one) for one in self._by_character.values())

    @property
    def zones(self) -> int:
        """Zones with at least one player who is not hidden."""
        present = self._by_character.values()
        return len({one.zone_id for one in present if may_see(ANYBODY, one)})

    def players_besides(self, account_id: int) -> int:
        """Return how many players of other accounts are in the world and not hidden."""
        return sum(
            one.account_id != account_id and may_see(ANYBODY, one)
            for one in self._by_character.values()
        )

    def is_playing(self, account_id: int, *, besides: int = 0) -> bool:
        """Return whether the account has a client in the world that is not link-dead.

        The character `besides` does not count.
        """
        return any(
            one.account_id == account_id and not one.link_dead and one.char_id != besides
            for one in self._by_character.values()
        )

    def find(self, char_id: int) -> Present | None:
        """Return a character in the world by its id."""
        return self._by_character.get(char_id)

    def named(self, name: str) -> Present | None:
        """Return a character in the world by its name, without regard to case."""
        return self._by_character.get(self._by_name.get(name.casefold(), 0))

    def entered(self, present: Present, send_away: Callable[[], None]) -> None:
        """Add a character that has entered this process, has returned, or has changed its zone."""
        self._send_away[present.char_id] = send_away
        self._put(replace(present, process=self._process, since=self._moment()))
        self._publish_present(present.char_id)

    def seen(
        self,
        char_id: int,
        *,
        away: bool | None = None,
        hidden: bool | None = None,
        name: str | None = None,
    ) -> None:
        """Change how a character of this process appears to others.

        None leaves a value as it is.
        """
        found = self._own(char_id)
        if found is not None:
            away = found.away if away is None else away
            hidden = found.hidden if hidden is None else hidden
            name = found.name if name is None else name
            self._put(replace(found, away=away, hidden=hidden, name=name))
            self._publish_present(char_id)

    def lost_link(self, char_id: int) -> None:
        """Record that a character's client was lost without leaving the world."""
        if self._own(char_id) is not None:
            self._lost_link(char_id)
            self._publish(LOST_LINK, char_id=char_id)

    def left(self, char_id: int) -> None:
        """Remove a character that has left the world, unless another process has it by now."""
        if self._own(char_id) is not None:
            self._drop(char_id)
            self._publish(LEFT, char_id=char_id)

    def forget(self, char_id: int) -> None:
        """Remove a character from this process without notifying the others."""
        if self._own(char_id) is not None:
            self._drop(char_id)

    def dismiss(self, char_id: int) -> None:
        """Take a character out of the world, in whichever process it is."""
        self._heard_dismiss({"char_id": char_id})
        self._publish(DISMISS, char_id=char_id)

    # Publishing.

    def _publish_all(self) -> None:
        for char_id in list(self._send_away):
            self._publish_present(char_id)

    def _publish_present(self, char_id: int) -> None:
        self._publish(ENTERED, **asdict(self._by_character[char_id]))

    def _publish(self, topic: str, **values: Any) -> None:
        self._bus.publish(topic, {**values, "process": self._process})

    # Notes of other processes.

    def _heard(self, hear: Callable[[dict[str, Any]], None], note: Note) -> None:
        """Handle a note of another process; this process has applied its own already."""
        if note["process"] != self._process:
            hear(dict(note))

    def _heard_entered(self, values: dict[str, Any]) -> None:
        present = Present(**values)
        # Both processes have let the character in while they could not reach each other. The later
        # entry wins on both sides, because both compare the same two times.
        own = self._own(present.char_id)
        if own is not None and own.since > present.since:
            self._publish_present(own.char_id)
            return
        # The entry is replaced before the call: leaving must not publish that the character has
        # left.
        send_away = self._send_away.pop(present.char_id, None)
        self._put(present)
        if send_away is not None:
            send_away()

    def _heard_lost_link(self, values: dict[str, Any]) -> None:
        if self._comes_from_own_process(values):
            self._lost_link(values["char_id"])

    def _heard_left(self, values: dict[str, Any]) -> None:
        if self._comes_from_own_process(values):
            self._drop(values["char_id"])

    def _heard_dismiss(self, values: dict[str, Any]) -> None:
        send_away = self._send_away.get(values["char_id"])
        if send_away is not None:
            send_away()

    def _heard_gone(self, values: dict[str, Any]) -> None:
        for one in self:
            if one.process == values["process"]:
                self._drop(one.char_id)

    # The copy of this process.

    def _own(self, char_id: int) -> Present | None:
        return self._by_character[char_id] if char_id in self._send_away else None

    def _comes_from_own_process(self, values: dict[str, Any]) -> bool:
        """Return whether a note about a character comes from the process that it is in."""
        found = self._by_character.get(values["char_id"])
        return found is not None and found.process == values["process"]

    def _put(self, present: Present) -> None:
        before = self._by_character.get(present.char_id)
        # A renamed character must no longer be found by its old name.
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
