"""What every `Presence` must do. An implementation's test class gives `presences` and `settle`."""

from __future__ import annotations

from collections.abc import Callable

from emu.processes.ports import Presence
from tests.support.running.processes import present

Presences = Callable[[], Presence]


def nothing() -> None:
    """Ends no session."""


def known(presence: Presence, char_id: int) -> tuple[int, int, int, bool]:
    """Return what a process knows of a character: account, character, zone, link-dead."""
    found = presence.find(char_id)
    assert found is not None
    return found.account_id, found.char_id, found.zone_id, found.link_dead


class PresenceContract:
    """Subclass it, with a fixture `presences` that makes the presence of one more process."""

    async def settle(self) -> None:
        """Wait until every process has received what was sent; by default nothing is pending."""

    async def test_who_is_in_the_world(self, presences: Presences) -> None:
        here = presences()
        here.entered(present(101, 5, 12), nothing)
        here.entered(present(102, 6, 12), nothing)
        here.entered(present(103, 7, 13), nothing)
        assert (here.players, here.zones) == (3, 2)
        assert [here.players_besides(account) for account in (101, 104)] == [2, 3]
        assert here.is_playing(101)
        assert not here.is_playing(104)
        assert not here.is_playing(101, besides=5)
        assert here.is_playing(101, besides=6)
        assert known(here, 5) == (101, 5, 12, False)
        assert here.find(8) is None

    async def test_a_lost_link_leaves_the_character_in_the_world(
        self, presences: Presences
    ) -> None:
        here = presences()
        here.entered(present(101, 5, 12), nothing)
        here.lost_link(5)
        here.lost_link(9)
        assert not here.is_playing(101)
        assert here.players == 1
        assert known(here, 5) == (101, 5, 12, True)
        here.entered(present(101, 5, 13), nothing)
        await self.settle()
        assert here.is_playing(101)
        assert (here.players, here.zones) == (1, 1)

    async def test_leaving_counts_at_once_and_may_come_twice(self, presences: Presences) -> None:
        here = presences()
        here.entered(present(101, 5, 12), nothing)
        here.left(5)
        here.left(5)
        here.lost_link(5)
        assert (here.players, here.zones) == (0, 0)
        await self.settle()
        assert here.players == 0

    async def test_who_is_dismissed_is_sent_away_and_stays_until_it_leaves(
        self, presences: Presences
    ) -> None:
        away: list[int] = []
        here = presences()
        here.entered(present(101, 5, 12), lambda: away.append(5))
        here.dismiss(5)
        here.dismiss(6)
        await self.settle()
        assert away == [5]
        assert here.find(5) is not None

    async def test_each_process_sees_everybody(self, presences: Presences) -> None:
        here, there = presences(), presences()
        here.entered(present(101, 5, 12), nothing)
        there.entered(present(102, 6, 13), nothing)
        await self.settle()
        for presence in (here, there):
            assert (presence.players, presence.zones) == (2, 2)
        here.lost_link(5)
        there.left(6)
        await self.settle()
        for presence in (here, there):
            assert known(presence, 5) == (101, 5, 12, True)
            assert presence.players == 1

    async def test_whoever_asks_only_the_process_of_the_character_ends_its_session(
        self, presences: Presences
    ) -> None:
        away: list[str] = []
        here, there = presences(), presences()
        here.entered(present(101, 5, 12), lambda: away.append("here"))
        await self.settle()
        there.dismiss(5)
        await self.settle()
        assert away == ["here"]
        here.left(5)
        there.entered(present(101, 5, 13), lambda: away.append("there"))
        await self.settle()
        here.dismiss(5)
        await self.settle()
        assert away == ["here", "there"]

    async def test_a_process_that_begins_late_learns_who_is_there(
        self, presences: Presences
    ) -> None:
        here = presences()
        here.entered(present(101, 5, 12), nothing)
        here.entered(present(102, 6, 12), nothing)
        here.lost_link(6)
        late = presences()
        await self.settle()
        assert (late.players, late.is_playing(101), late.is_playing(102)) == (2, True, False)

    async def test_names_are_found_wherever_they_are(self, presences: Presences) -> None:
        here, there = presences(), presences()
        here.entered(present(101, 5, 12, "Aldana"), nothing)
        there.entered(present(102, 6, 13, "Borvik"), nothing)
        await self.settle()
        for presence in (here, there):
            assert sorted(one.name for one in presence) == ["Aldana", "Borvik"]
            found = presence.named("ALDANA")
            assert found is not None
            assert found.char_id == 5
            assert presence.named("Cestra") is None
        here.left(5)
        await self.settle()
        assert (here.named("Aldana"), there.named("Aldana")) == (None, None)

    async def test_a_changed_appearance_is_published(self, presences: Presences) -> None:
        here, there = presences(), presences()
        here.entered(present(101, 5, 12), nothing)
        here.seen(5, away=True)
        here.seen(5, hidden=True)
        here.seen(9, away=True)
        await self.settle()
        found = there.find(5)
        assert found is not None
        assert (found.away, found.hidden) == (True, True)
        there.seen(5, away=False)
        await self.settle()
        assert here.find(5) == found, "only its own process knows how it is seen"

    async def test_only_the_process_of_a_character_takes_it_out(self, presences: Presences) -> None:
        here, there = presences(), presences()
        here.entered(present(101, 5, 12), nothing)
        await self.settle()
        there.entered(present(101, 5, 13), nothing)
        await self.settle()
        here.left(5)
        here.lost_link(5)
        await self.settle()
        assert known(here, 5) == known(there, 5) == (101, 5, 13, False)

    async def test_who_came_in_elsewhere_is_sent_away_here(self, presences: Presences) -> None:
        away: list[str] = []
        here, there = presences(), presences()
        here.entered(present(101, 5, 12), lambda: away.append("here"))
        await self.settle()
        there.entered(present(101, 5, 13), lambda: away.append("there"))
        await self.settle()
        assert away == ["here"]
        assert known(here, 5) == (101, 5, 13, False)
