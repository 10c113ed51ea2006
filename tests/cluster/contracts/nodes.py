"""What every `NodeStore` must do. An implementation's test class gives `store` and `later`."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from emu.cluster.ports import LEASE, LeaseRow, NodeAbout, NodeState, NodeStore, ZonePlace

ABOUT = NodeAbout("192.0.2.1", 9001, "1.0", 500, (12, 33))


class NodeStoreContract:
    """Subclass it, with a fixture `store` and the method `later`."""

    def later(self, seconds: float) -> None:
        """Let time pass for the database."""
        raise NotImplementedError

    async def test_a_node_is_listed_with_what_it_reports(self, store: NodeStore) -> None:
        term = await store.take_term("east", ABOUT)
        assert await store.take_term("west", NodeAbout()) > 0
        east, west = await store.nodes()
        assert (east.name, east.term, east.about, east.state) == ("east", term, ABOUT, "up")
        assert (west.name, west.about) == ("west", NodeAbout())
        assert 0 <= east.silence < 1

    async def test_the_clock_of_a_node_is_recorded(self, store: NodeStore) -> None:
        term = await store.take_term("east", replace(ABOUT, clock_ahead=-7.0))
        beat = await store.beat("east", term, 0, LEASE)
        assert beat is not None
        assert beat.nodes[0].about.clock_ahead == -7.0
        assert not beat.nodes[0].is_clock_right
        assert beat.moment == pytest.approx(await store.moment(), abs=30)
        await store.set_clock("east", 0.0)
        assert (await store.nodes())[0].is_clock_right

    async def test_what_nobody_knows_is_not_recorded(self, store: NodeStore) -> None:
        await store.set_clock("east", 1.0)
        await store.set_content("east", "abc")
        await store.set_leaving("east", [(12, 0)])
        await store.leave("east", 1)
        assert not await store.set_state("east", NodeState.UP)
        assert not await store.forget("east", LEASE)
        assert list(await store.nodes()) == []

    async def test_a_node_that_stops_has_no_players(self, store: NodeStore) -> None:
        term = await store.take_term("east", ABOUT)
        await store.beat("east", term, 7, LEASE)
        assert [one.players for one in await store.nodes()] == [7]
        await store.leave("east", term + 1)
        assert [one.players for one in await store.nodes()] == [7]
        await store.leave("east", term)
        assert [(one.players, one.state) for one in await store.nodes()] == [
            (0, NodeState.STOPPED),
        ]  # fmt: skip

    async def test_what_a_node_still_runs_is_recorded_until_its_next_term(
        self, store: NodeStore
    ) -> None:
        await store.take_term("east", ABOUT)
        await store.set_leaving("east", [(12, 0), (325, 1)])
        assert (await store.nodes())[0].leaving == ((12, 0), (325, 1))
        await store.take_term("east", ABOUT)
        assert (await store.nodes())[0].leaving == ()

    async def test_each_term_is_larger_than_all_before(self, store: NodeStore) -> None:
        first = await store.take_term("east", ABOUT)
        second = await store.take_term("east", replace(ABOUT, port=9002))
        assert second > first
        await store.leave("east", second)
        third = await store.take_term("east", ABOUT)
        assert third > second
        self.later(LEASE + 1)
        assert await store.forget("east", LEASE)
        # A first term is the time in milliseconds; a lost node is silent for seconds.
        time.sleep(0.005)  # noqa: ASYNC251  # nothing else runs in this test
        assert await store.take_term("east", ABOUT) > third

    async def test_a_beat_keeps_a_node_alive(self, store: NodeStore) -> None:
        term = await store.take_term("east", ABOUT)
        for _ in range(3):
            self.later(LEASE - 1)
            beat = await store.beat("east", term, 7, LEASE)
            assert beat is not None
        assert beat.nodes[0].players == 7
        assert beat.nodes[0].is_alive()

    async def test_a_late_beat_is_none_and_changes_nothing(self, store: NodeStore) -> None:
        term = await store.take_term("east", ABOUT)
        self.later(LEASE + 1)
        assert await store.beat("east", term, 7, LEASE) is None
        (row,) = await store.nodes()
        assert not row.is_alive()
        assert row.players == 0

    async def test_a_beat_of_an_earlier_term_is_none(self, store: NodeStore) -> None:
        term = await store.take_term("east", ABOUT)
        later = await store.take_term("east", ABOUT)
        assert await store.beat("east", term, 7, LEASE) is None
        assert await store.beat("east", later, 7, LEASE) is not None
        assert await store.beat("west", 1, 7, LEASE) is None

    async def test_a_new_term_keeps_the_state_unless_one_is_given(self, store: NodeStore) -> None:
        await store.take_term("east", ABOUT)
        assert await store.set_state("east", NodeState.DRAINING)
        await store.take_term("east", ABOUT)
        assert (await store.nodes())[0].state is NodeState.DRAINING
        await store.take_term("east", ABOUT, NodeState.UP)
        assert (await store.nodes())[0].state is NodeState.UP

    async def test_a_stopped_node_is_not_alive_and_has_no_state_to_set(
        self, store: NodeStore
    ) -> None:
        first = await store.take_term("east", ABOUT)
        term = await store.take_term("east", ABOUT)
        await store.leave("east", first)
        assert (await store.nodes())[0].is_alive(), "not its last term"
        await store.leave("east", term)
        assert not (await store.nodes())[0].is_alive()
        assert await store.beat("east", term, 1, LEASE) is None
        assert not await store.set_state("east", NodeState.DRAINING)
        assert not await store.set_state("nobody", NodeState.DRAINING)
        assert await store.forget("east", LEASE)
        assert not await store.forget("east", LEASE)
        assert list(await store.nodes()) == []

    async def test_a_living_node_cannot_be_forgotten(self, store: NodeStore) -> None:
        await store.take_term("east", ABOUT)
        assert not await store.forget("east", LEASE)
        self.later(LEASE + 1)
        assert await store.forget("east", LEASE)

    async def test_one_of_two_claims_succeeds(self, store: NodeStore) -> None:
        east, west = [await store.take_term(name, ABOUT) for name in ("east", "west")]
        place = ZonePlace(12, 0, "east", east)
        assert await store.claim(place, None)
        assert not await store.claim(ZonePlace(12, 0, "west", west), None)
        found = await store.placement(12)
        assert list(found.places) == [place]
        assert [row.instances for row in found.nodes] == [1, 0]
        over = ZonePlace(12, 0, "west", west)
        assert await store.claim(over, place)
        assert not await store.claim(replace(over, node="east"), place), "it is another one now"
        assert list(await store.places(LEASE)) == [over]
        assert list((await store.placement(33)).places) == []

    async def test_a_node_learns_at_its_beat_what_was_placed_on_it(self, store: NodeStore) -> None:
        term = await store.take_term("east", ABOUT)
        await store.take_term("west", ABOUT)
        places = [ZonePlace(12, number, "east", term) for number in (0, 1)]
        for place in places:
            assert await store.claim(place, None)
        beat = await store.beat("east", term, 0, LEASE)
        assert beat is not None
        assert sorted(beat.places, key=lambda one: one.instance) == places

    async def test_what_a_lost_node_holds_is_not_listed(self, store: NodeStore) -> None:
        term = await store.take_term("east", ABOUT)
        place = ZonePlace(12, 0, "east", term)
        await store.claim(place, None)
        assert await store.hold_lease("link", "east", term, LEASE)
        self.later(LEASE + 1)
        assert list(await store.places(LEASE)) == []
        assert list(await store.leases(LEASE)) == []
        assert list((await store.placement(12)).places) == [place], "its row is to be replaced"
        await store.take_term("east", ABOUT)
        assert list((await store.placement(12)).places) == [], "its new term has none of it"

    async def test_an_instance_is_full_and_released_by_its_holder_only(
        self, store: NodeStore
    ) -> None:
        term = await store.take_term("east", ABOUT)
        place = ZonePlace(12, 0, "east", term)
        await store.claim(place, None)
        await store.mark_full(replace(place, full=True))
        assert list(await store.places(LEASE)) == [replace(place, full=True)]
        for other in (replace(place, node="west"), replace(place, node_term=term + 1)):
            await store.mark_full(other)
            await store.release(other)
        assert list(await store.places(LEASE)) == [replace(place, full=True)]
        await store.release(place)
        assert list(await store.places(LEASE)) == []
        await store.release(place)

    async def test_a_lease_has_one_holder(self, store: NodeStore) -> None:
        east, west = [await store.take_term(name, ABOUT) for name in ("east", "west")]
        assert await store.hold_lease("link", "east", east, LEASE)
        assert await store.hold_lease("link", "east", east, LEASE), "it keeps it"
        assert not await store.hold_lease("link", "west", west, LEASE)
        assert await store.hold_lease("purge", "west", west, LEASE)
        assert list(await store.leases(LEASE)) == [
            LeaseRow("link", "east", east), LeaseRow("purge", "west", west),
        ]  # fmt: skip
        await store.release_lease("link", "west", west)
        assert not await store.hold_lease("link", "west", west, LEASE)
        await store.release_lease("link", "east", east)
        assert await store.hold_lease("link", "west", west, LEASE)

    async def test_a_lease_of_a_lost_node_is_taken(self, store: NodeStore) -> None:
        east = await store.take_term("east", ABOUT)
        assert await store.hold_lease("link", "east", east, LEASE)
        self.later(LEASE + 1)
        west = await store.take_term("west", ABOUT)
        assert await store.hold_lease("link", "west", west, LEASE)
        assert not await store.hold_lease("link", "east", east, LEASE), "it is not alive"
        again = await store.take_term("east", ABOUT)
        assert not await store.hold_lease("link", "east", again, LEASE)
        await store.leave("west", west)
        assert await store.hold_lease("link", "east", again, LEASE)
