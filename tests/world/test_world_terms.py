"""Terms: a process that lost a character to another one stores nothing of it any more."""

from __future__ import annotations

from emu.world.actors.player import PlayerState
from emu.world.reports import NotSaved
from tests.support.world.worlds import WorldHarness


def test_a_process_that_lost_a_character_stores_nothing_and_ends_its_session() -> None:
    zombie = WorldHarness()
    there = WorldHarness(beside=zombie)
    zombie.character(5)
    zombie.claim(5)
    client = zombie.stand(5)
    zombie.exist("Borvik")
    # The first process stands still and hears nothing: the other one asks it in vain.
    there.claim(5)
    stored, saves = there.store.rows[5], list(there.store.saves)
    client.types("/friend Borvik")
    zombie.run(61.0)
    assert (there.store.rows[5], there.store.saves) == (stored, saves)
    assert client.player is not None
    assert client.player.state is PlayerState.GONE
    assert client.is_closed
    [lost] = [event for event in zombie.events if isinstance(event, NotSaved)]
    assert lost.reason == "another process plays Name5 now"
    assert len(zombie.world.saves.saver) == 0
    assert zombie.faults.counts == {}


def test_a_character_of_this_process_goes_on_with_its_new_term() -> None:
    harness = WorldHarness()
    harness.character(5)
    harness.claim(5)
    client = harness.stand(5)
    harness.exist("Borvik")
    harness.claim(5)
    client.types("/friend Borvik")
    harness.run(61.0)
    assert not client.is_closed
    assert harness.store.rows[5].relations == ((0, "Borvik"),)
    assert harness.store.rows[5].term == 2


def test_a_player_who_was_played_elsewhere_meanwhile_is_not_taken_over() -> None:
    here = WorldHarness()
    there = WorldHarness(beside=here)
    here.character(5)
    here.claim(5)
    client = here.stand(5)
    here.run(3.0)
    here.store.saves.clear()
    there.claim(5)
    here.claim(5)
    assert client.is_closed
    assert here.world.players.get(5) is None
    assert here.store.saves == []
    assert not here.stand(5).is_closed
