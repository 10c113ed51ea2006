"""Ranged attack: what it needs, its texts, and the message of a shot. Source: EQ2Emulator."""

import pytest
from twisted.internet.defer import ensureDeferred

from emu.items.held import Place, Where
from emu.items.kinds import ItemKind, Range, Ranged, Slot, Sort, Thrown
from emu.world.combat.archery import NO_AMMUNITION, NO_WEAPON, TOO_CLOSE, TOO_FAR
from emu.world.combat.fights import STARTED, STOPPED
from tests.support.coroutines import finish
from tests.support.world.fights import HERE, Fight

BOW, ARROW = 901, 902


def archer(version: int = 546, arrows: int = 20, *, has_bow: bool = True) -> Fight:
    fight = Fight(version)
    found = {
        BOW: ItemKind(
            BOW, "a short bow", sort=Sort.RANGED, slot_bits=1 << Slot.RANGE,
            part=Ranged(2, Range(2, 4), Range(2, 4), Range(3, 6), 30, 0.0, Range(5, 25)),
        ),
        ARROW: ItemKind(
            ARROW, "an arrow", sort=Sort.THROWN, slot_bits=1 << Slot.AMMO, stack=100,
            part=Thrown(2, 1, 0.0, 2),
        ),
    }  # fmt: skip
    inventory = fight.player.holdings.inventory
    numbers = iter(range(5000, 6000))
    for kind, count, slot in ((found[BOW], 1, Slot.RANGE), (found[ARROW], arrows, Slot.AMMO)):
        if count and (has_bow or kind.id != BOW):
            (thing, *_) = inventory.add_things(kind, count, lambda: next(numbers))
            inventory.move_to(thing, Place(Where.WORN, 0, slot))
    fight.harness.parts.items.dress(fight.player)
    return fight


def shots(fight: Fight) -> list[bytes]:
    return [one for one in fight.blows() if one[:4] == b"\x01\0\0\0"]


def test_a_bow_shoots_and_takes_arrows() -> None:
    fight = archer()
    crab = fight.creature(at=HERE._replace(x=18.0))
    crab.sheet.health.fill(100_000)
    fight.player.set_target(crab)
    assert fight.client.types("autoattack 2") == [STARTED]
    fight.harness.parts.combat.creatures.hold(crab, on=True)
    fight.run(8.5)
    # A delay of 3 s.
    assert len(shots(fight)) == 3
    arrows = fight.player.holdings.inventory.worn(Slot.AMMO)
    assert arrows is not None
    assert arrows.count == 17
    assert fight.client.types("autoattack 2") == [STOPPED]


def test_an_arrow_shot_during_an_exchange_is_taken_after_it() -> None:
    """A refused exchange would give the arrow back, which the store has no more."""
    fight = archer()
    gate = fight.player.holdings.gate
    crab = fight.creature(at=HERE._replace(x=18.0))
    crab.sheet.health.fill(100_000)
    fight.player.set_target(crab)
    finish(gate.pass_through())
    fight.harness.start = ensureDeferred
    fight.harness.parts.combat.creatures.hold(crab, on=True)
    fight.client.types("autoattack 2")
    fight.run(2.5)
    assert len(shots(fight)) == 1
    counts = []
    for _ in range(2):
        arrows = fight.player.holdings.inventory.worn(Slot.AMMO)
        assert arrows is not None
        counts.append(arrows.count)
        if gate.is_closed:
            gate.leave()
    assert counts == [20, 19]


def test_no_arrow_is_shot_twice_during_an_exchange() -> None:
    fight = archer(arrows=2)
    gate = fight.player.holdings.gate
    crab = fight.creature(at=HERE._replace(x=18.0))
    crab.sheet.health.fill(100_000)
    fight.player.set_target(crab)
    finish(gate.pass_through())
    fight.harness.start = ensureDeferred
    fight.harness.parts.combat.creatures.hold(crab, on=True)
    before = len(fight.texts(fight.client))
    fight.client.types("autoattack 2")
    fight.run(12.0)
    assert len(shots(fight)) == 2
    assert fight.texts(fight.client)[before:] == [STARTED, NO_AMMUNITION]
    gate.leave()
    assert fight.player.holdings.inventory.worn(Slot.AMMO) is None


@pytest.mark.parametrize(
    ("distance", "arrows", "has_bow", "text"),
    [(3.0, 5, True, TOO_CLOSE), (60.0, 5, True, TOO_FAR), (12.0, 0, True, NO_AMMUNITION),
     (12.0, 5, False, NO_WEAPON)],
)  # fmt: skip
def test_what_prevents_a_shot_is_said_once(
    distance: float, arrows: int, text: str, *, has_bow: bool
) -> None:
    fight = archer(arrows=arrows, has_bow=has_bow)
    crab = fight.creature(at=HERE._replace(x=distance))
    fight.player.set_target(crab)
    fight.client.types("autoattack 2")
    fight.run(5.0)
    assert fight.texts().count(text) == 1
    assert shots(fight) == []


@pytest.mark.parametrize("version", [1096, 1208, 60114])
def test_newer_clients_see_a_shot(version: int) -> None:
    fight = archer(version)
    crab = fight.creature(at=HERE._replace(x=18.0))
    crab.sheet.health.fill(100_000)
    fight.player.set_target(crab)
    fight.client.types("autoattack 2")
    fight.run(0.5)
    (first, *_) = fight.blows()
    assert first[0] == 0xE2
