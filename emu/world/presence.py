"""Who is in the world now: entered, link-dead or gone. Knows no session and no zone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Present:
    """One character that is in the world."""

    account_id: int
    char_id: int
    zone_id: int
    send_away: Callable[[], None]
    """Ends its session."""
    link_dead: bool = False


class WorldPresence:
    """Implements `emu.world.admission.Presence`; the zones tell it who comes and goes."""

    __slots__ = ("_by_character",)

    def __init__(self) -> None:
        self._by_character: dict[int, Present] = {}

    @property
    def players(self) -> int:
        """Players that are in the world, link-dead ones too."""
        return len(self._by_character)

    def players_besides(self, account_id: int) -> int:
        """Return how many players are in the world that are not this account's."""
        return sum(one.account_id != account_id for one in self._by_character.values())

    @property
    def zones(self) -> int:
        """Zones that somebody is in."""
        return len({one.zone_id for one in self._by_character.values()})

    def entered(
        self, account_id: int, char_id: int, zone_id: int, send_away: Callable[[], None]
    ) -> None:
        """A character came in, came back, or changed its zone."""
        self._by_character[char_id] = Present(account_id, char_id, zone_id, send_away)

    def lost_link(self, char_id: int) -> None:
        """A character's client is gone without leaving the world."""
        found = self._by_character.get(char_id)
        if found is not None:
            self._by_character[char_id] = replace(found, link_dead=True)

    def left(self, char_id: int) -> None:
        """A character is out of the world."""
        self._by_character.pop(char_id, None)

    def find(self, char_id: int) -> Present | None:
        """Return a character that is in the world."""
        return self._by_character.get(char_id)

    def is_playing(self, account_id: int) -> bool:
        """Say whether the account has a client in the world that is not link-dead."""
        return any(
            one.account_id == account_id and not one.link_dead
            for one in self._by_character.values()
        )

    def dismiss(self, char_id: int) -> None:
        """Send a character away that no longer exists; it leaves when its session is over."""
        found = self._by_character.get(char_id)
        if found is not None:
            found.send_away()
