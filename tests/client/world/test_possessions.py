"""The own character's sheet and things, as a client reads them from a world's messages."""

import pytest

from emu.client.world.possessions import MESSAGES, WORN, Possessions
from emu.content.spells import SpellKinds, TomlSpells, shipped_spells
from emu.world.spells.states import milliseconds
from emu.world_stream.stream import SHEET
from tests.support.world import item_kinds as kinds
from tests.support.world.item_scenes import scene
from tests.support.world.worlds import WorldHarness

LASTING = 2000000013


@pytest.mark.parametrize("version", [546, 1208, 60114])
def test_things_are_held_and_worn(version: int) -> None:
    _, client = scene(version)
    possessions, seen = Possessions(client.dialect), 0

    def read() -> None:
        nonlocal seen
        new, seen = client.log[seen:], len(client.log)
        for name, payload in new:
            if name in MESSAGES:
                assert possessions.handle_message(name, payload).what == name

    client.types(f"/summonitem {kinds.CAP}")
    read()
    (cap,) = possessions.things()
    assert (cap.kind, cap.name, cap.count) == (kinds.CAP, "Dented Iron Cap", 1)
    assert possessions.sheet["level"] == 1
    client.types(f"/inventory equip {cap.place}")
    read()
    assert possessions.things() == []
    (worn,) = possessions.things(WORN)
    assert worn.unique == cap.unique
    assert possessions.coins == 0
    assert possessions.spells() == []


@pytest.mark.parametrize("version", [546, 1208, 60114])
def test_what_finds_no_place_waits(version: int) -> None:
    """Source: docs/protocol/world/items.md#lists."""
    _, client = scene(version)
    possessions = Possessions(client.dialect)
    for _ in range(7):
        client.types(f"/summonitem {kinds.CAP}")
    for name, payload in client.log:
        if name in MESSAGES:
            possessions.handle_message(name, payload)
    things = possessions.things()
    assert [one.is_waiting for one in things] == [False] * 6 + [True]
    assert things[-1].unique == things[-1].kind == kinds.CAP


def test_changed_elements_of_a_list_are_put_into_it() -> None:
    harness = WorldHarness(spell_kinds=SpellKinds(None, TomlSpells([shipped_spells()])))
    client = harness.stand(5, class_=11, level=5)
    possessions, player = Possessions(client.dialect), client.player
    assert player is not None
    kind = harness.spell_kinds.get(LASTING)
    assert kind is not None
    for _ in range(2):
        # The second cast changes the end of the effect alone.
        harness.parts.spells.cast_for_free(player, kind, 1, player.spawn)
        harness.run(2.0)
    for name, payload in client.log:
        if name == SHEET:
            possessions.handle_message(name, payload)
    row = possessions.sheet["spell_effects"][0]
    (spell,) = harness.parts.spells.states.of(player.spawn).effects
    assert spell.ends is not None
    assert (row["spell_id"], row["expire_timestamp"]) == (LASTING, milliseconds(spell.ends))
