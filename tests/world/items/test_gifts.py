"""What scripts and behaviors give and take, also while the player is in an exchange."""

from __future__ import annotations

from collections import Counter

from twisted.internet.defer import ensureDeferred

from emu.items.held import Where
from emu.world.items.gifts import Gifts
from tests.support.coroutines import finish
from tests.support.world import item_kinds as kinds
from tests.support.world.item_scenes import held, player_of, scene


def test_what_is_given_during_an_exchange_comes_afterwards() -> None:
    harness, client = scene()
    player, gifts = player_of(client), Gifts(harness.parts.items, Counter())
    gifts.give(player, kinds.PEBBLE, 4)
    finish(player.holdings.gate.pass_through())
    harness.start = ensureDeferred
    assert gifts.give(player, kinds.MARBLE)
    assert not gifts.take_things(player, kinds.PEBBLE)
    assert held(client) == [(kinds.PEBBLE, 0, 4)]
    player.holdings.gate.leave()
    assert held(client) == [(kinds.PEBBLE, 0, 4), (kinds.MARBLE, 1, 1)]
    assert gifts.take_things(player, kinds.PEBBLE)
    assert not player.holdings.gate.is_closed


def test_too_many_waiting_gifts_are_counted() -> None:
    harness, client = scene()
    counters = Counter[str]()
    player, gifts = player_of(client), Gifts(harness.parts.items, counters)
    finish(player.holdings.gate.pass_through())
    harness.start = ensureDeferred
    for _ in range(25):
        gifts.give(player, kinds.MARBLE)
    player.holdings.gate.leave()
    assert counters["things not given: too many acts wait"] == 5
    assert player.holdings.inventory.count_of(kinds.MARBLE) == 20


def test_the_bank_is_looked_into_when_asked() -> None:
    harness, client = scene()
    player, gifts = player_of(client), Gifts(harness.parts.items, Counter())
    assert gifts.give(player, kinds.MARBLE, in_bank=True)
    assert held(client, Where.BANK) == [(kinds.MARBLE, 0, 1)]
    assert not gifts.has(player, kinds.MARBLE)
    assert gifts.has(player, kinds.MARBLE, banked=True)
