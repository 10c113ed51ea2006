"""What every `Presence` must do. An implementation's test class gives `pictures` and `settle`."""

from __future__ import annotations

from collections.abc import Callable

from emu.model import Present
from emu.processes.ports import Presence

Pictures = Callable[[], Presence]


def nothing() -> None:
    """Ends no session."""


class PresenceContract:
    """Subclass it, with a fixture `pictures` that makes the presence of one more process."""

    async def settle(self) -> None:
        """Wait until every process has heard what was told; nothing to wait for by default."""

    async def test_who_is_in_the_world(self, pictures: Pictures) -> None:
        here = pictures()
        here.entered(101, 5, 12, nothing)
        here.entered(102, 6, 12, nothing)
        here.entered(103, 7, 13, nothing)
        assert (here.players, here.zones) == (3, 2)
        assert [here.players_besides(account) for account in (101, 104)] == [2, 3]
        assert here.is_playing(101)
        assert not here.is_playing(104)
        assert here.find(5) == Present(101, 5, 12)
        assert here.find(8) is None

    async def test_a_lost_link_leaves_the_character_in_the_world(self, pictures: Pictures) -> None:
        here = pictures()
        here.entered(101, 5, 12, nothing)
        here.lost_link(5)
        here.lost_link(9)
        assert not here.is_playing(101)
        assert here.players == 1
        assert here.find(5) == Present(101, 5, 12, link_dead=True)
        here.entered(101, 5, 13, nothing)
        await self.settle()
        assert here.is_playing(101)
        assert (here.players, here.zones) == (1, 1)

    async def test_leaving_counts_at_once_and_may_come_twice(self, pictures: Pictures) -> None:
        here = pictures()
        here.entered(101, 5, 12, nothing)
        here.left(5)
        here.left(5)
        here.lost_link(5)
        assert (here.players, here.zones) == (0, 0)
        await self.settle()
        assert here.players == 0

    async def test_who_is_dismissed_is_sent_away_and_stays_until_it_leaves(
        self, pictures: Pictures
    ) -> None:
        away: list[int] = []
        here = pictures()
        here.entered(101, 5, 12, lambda: away.append(5))
        here.dismiss(5)
        here.dismiss(6)
        await self.settle()
        assert away == [5]
        assert here.find(5) is not None

    async def test_each_process_sees_everybody(self, pictures: Pictures) -> None:
        here, there = pictures(), pictures()
        here.entered(101, 5, 12, nothing)
        there.entered(102, 6, 13, nothing)
        await self.settle()
        for picture in (here, there):
            assert (picture.players, picture.zones) == (2, 2)
        here.lost_link(5)
        there.left(6)
        await self.settle()
        for picture in (here, there):
            assert picture.find(5) == Present(101, 5, 12, link_dead=True)
            assert picture.players == 1

    async def test_whoever_asks_only_the_process_of_the_character_ends_its_session(
        self, pictures: Pictures
    ) -> None:
        away: list[str] = []
        here, there = pictures(), pictures()
        here.entered(101, 5, 12, lambda: away.append("here"))
        await self.settle()
        there.dismiss(5)
        await self.settle()
        assert away == ["here"]
        there.entered(101, 5, 13, lambda: away.append("there"))
        await self.settle()
        here.dismiss(5)
        await self.settle()
        assert away == ["here", "there"]

    async def test_a_process_that_begins_late_learns_who_is_there(self, pictures: Pictures) -> None:
        here = pictures()
        here.entered(101, 5, 12, nothing)
        here.entered(102, 6, 12, nothing)
        here.lost_link(6)
        late = pictures()
        await self.settle()
        assert (late.players, late.is_playing(101), late.is_playing(102)) == (2, True, False)
