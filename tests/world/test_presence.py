from __future__ import annotations

from emu.world.admission import Presence
from emu.world.presence import WorldPresence


def test_who_is_in_the_world() -> None:
    book, away = WorldPresence(), []
    presence: Presence = book
    book.entered(101, 5, 12, lambda: away.append(5))
    book.entered(102, 6, 12, lambda: away.append(6))
    book.entered(103, 7, 13, lambda: away.append(7))
    assert (presence.players, presence.zones) == (3, 2)
    assert [presence.players_besides(account) for account in (101, 104)] == [2, 3]
    assert presence.is_playing(101)
    assert not presence.is_playing(104)
    book.lost_link(5)
    assert not presence.is_playing(101)
    assert presence.players == 3
    book.entered(101, 5, 12, lambda: away.append(5))
    assert presence.is_playing(101)
    book.left(7)
    book.left(7)
    book.lost_link(7)
    assert (presence.players, presence.zones) == (2, 1)
    presence.dismiss(6)
    presence.dismiss(7)
    assert away == [6]
    assert book.find(6) is not None
    assert book.find(7) is None
