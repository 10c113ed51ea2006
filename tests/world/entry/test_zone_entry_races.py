"""Several sessions of one character that enter at once: its things are those of the last one."""

from __future__ import annotations

from dataclasses import replace

from emu.items.held import Place, Thing, Where
from emu.ledger import Owner
from emu.world.actors.player import PlayerState
from tests.support.coroutines import finish
from tests.support.world import item_kinds as kinds
from tests.support.world.entries import EntryHarness, request


def entered_things(inside, visitor):
    """Return the numbers of the things with which a client came in."""
    assert visitor._player is inside.world.players.get(5)
    return [thing.id for thing in visitor._player.holdings.inventory]


class ManyEntries:
    """Sessions of one character with things, which wait for their turn to enter."""

    def __init__(self, monkeypatch):
        self.harness = EntryHarness()
        self.inside = self.harness.inside
        self.harness.world.parts.items.kinds = kinds.item_kinds()
        thing = Thing(2000, kinds.MARBLE, Place(Where.BAGS, 0, 3))
        self.reads = 0

        async def of(owners):
            self.reads += 1
            return {Owner.character(5): [thing]}

        monkeypatch.setattr(self.harness.world.stored.things, "of", of)
        self.meanwhile = lambda: None

        async def turn():
            meanwhile, self.meanwhile = self.meanwhile, lambda: None
            meanwhile()

        self.harness.zone_entry = replace(self.harness.zone_entry, take_turn=turn)

    def enter(self, version=546):
        key = finish(self.harness.keys.issue(101, 5, "Aldana"))
        link, visitor = self.harness.visit()
        visitor.message(1, request(key, version=version), 1.0)
        return visitor

    def leave(self):
        player = self.inside.world.players.get(5)
        self.inside.send_away(player, "for the test", self.harness.world.now)


def test_a_client_of_another_version_finds_the_things_of_its_character(monkeypatch):
    """Its earlier session may still be there, link-dead: then nothing had been read for it."""
    entries = ManyEntries(monkeypatch)
    first = entries.enter()
    before = first._player
    second = entries.enter(version=561)
    assert second._player is not before
    assert before.state is PlayerState.GONE
    assert entered_things(entries.inside, second) == [2000]


def test_who_comes_back_as_its_last_state_is_stored_has_that_state(monkeypatch):
    """The row was read before the earlier session ended, whose save is done by now.

    Its things are read after that: they are not stale.
    """
    entries = ManyEntries(monkeypatch)
    entries.enter()
    world, harness = entries.inside.world, entries.harness

    async def level_and_leave(_character):
        monkeypatch.undo()
        player = world.players.get(5)
        world.saves.set_facts(player, harness.world.now, level=7)
        entries.leave()
        harness.world.run(5.0)
        assert len(world.saves.saver) == 0
        harness.characters[5] = harness.world.store.rows[5]

    monkeypatch.setattr(entries.inside, "place", level_and_leave)
    assert entries.enter()._player.character.level == 7


def test_a_character_that_leaves_just_before_it_is_taken_over_keeps_its_things(monkeypatch):
    entries = ManyEntries(monkeypatch)
    entries.enter()
    entries.meanwhile = entries.leave
    assert entered_things(entries.inside, entries.enter()) == [2000]


def test_what_was_loaded_before_another_session_came_and_left_is_loaded_again(monkeypatch):
    entries = ManyEntries(monkeypatch)

    def come_and_leave():
        entries.enter()
        entries.leave()

    entries.meanwhile = come_and_leave
    assert entered_things(entries.inside, entries.enter()) == [2000]
    assert entries.reads == 3, "once for each session, and once more"
