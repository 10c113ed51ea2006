"""The own character's sheet and things, as a client reads them from a world's messages."""

import pytest

from emu.client.world.possessions import MESSAGES, WORN, Possessions
from tests.support.world import item_kinds as kinds
from tests.support.world.item_scenes import scene


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
