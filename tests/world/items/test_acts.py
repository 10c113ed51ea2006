"""The command `inventory`: its refusals, and arguments that mean nothing.

Texts are those of ../shared/data/recordings/items-546-carry.
"""

from __future__ import annotations

import pytest

from emu.items.held import Where
from emu.ledger import Owner, OwnerKind
from tests.support.coroutines import finish
from tests.support.world import item_kinds as kinds
from tests.support.world.item_scenes import held, player_of, scene

VISOR = "\\aITEM 910019 Champion's Visor:Champion's Visor\\/a"
COWL = "\\aITEM 910020 Acolyte's Cowl:Acolyte's Cowl\\/a"


@pytest.mark.parametrize(
    ("item", "command", "text"),
    [
        (kinds.MARBLE, "equip 0", "Item Chipped Marble isn't equipable."),
        (kinds.VISOR, "equip 0", f"You must be at least level 60 to equip {VISOR}."),
        (kinds.COWL, "equip 0", f"Your class may not equip {COWL}."),
        (kinds.HAT, "equip 0 2 0 0", "This item is for appearance slots only."),
        (kinds.STONE, "destroy 0", "You can't destroy this item."),
        (kinds.TOKEN, "move 0 0 -4 1", "Could not move item to that location."),
        (kinds.MARBLE, "move 0 50 0 1", "Could not move item to that location."),
        (kinds.MARBLE, "move 9 1 0 1", "You have no item."),
        (kinds.PEBBLE, "move 0 3 0 44", "Could not move item to that location."),
    ],
)  # fmt: skip
def test_a_refusal_is_said_and_changes_nothing(item: int, command: str, text: str) -> None:
    _, client = scene(level=1)
    client.types(f"/summonitem {item}")
    before = held(client)
    assert client.types(f"/inventory {command}") == [text]
    assert held(client) == before


@pytest.mark.parametrize(
    "words",
    [
        "destroy", "destroy 9", "destroy -1", "destroy x", "destroy 4294967296", "equip 0 99",
        "equip 77", "unequip 3", "unequip 99", "unpack 0", "unpack 9", "nosale 5 1", "pop 0 0",
    ],
)  # fmt: skip
def test_nonsense_is_silent_and_changes_nothing(words: str) -> None:
    _, client = scene()
    client.types(f"/summonitem {kinds.CAP}")
    before = held(client)
    assert client.types(f"/inventory {words}") == []
    assert held(client) == before


def test_a_thing_that_must_be_attuned_asks_first() -> None:
    _, client = scene()
    client.types(f"/summonitem {kinds.TUNIC}")
    assert client.types("/inventory equip 0") == []
    (window,) = client.decoded("WS_ChoiceWindow")
    assert window["text"] == (
        "Quilted Recruit Tunic must be attuned before it can be equipped. Would you like to attune"
        " it now?"
    )
    assert (window["accept_text"], window["accept_command"]) == ("Attune", "attune_inv 0 1 0 -1")
    assert held(client, Where.WORN) == []
    assert client.types("/attune_inv 0 1 0 -1") == []
    (thing,) = player_of(client).holdings.inventory.in_list(Where.WORN)
    assert thing.is_attuned


@pytest.mark.parametrize("version", [546, 1208])
def test_a_thing_is_examined_by_its_number_or_by_a_link(version: int) -> None:
    _, client = scene(version)
    client.types(f"/summonitem {kinds.MARBLE}")
    (thing,) = player_of(client).holdings.inventory
    number = thing.id.to_bytes(4, "little")
    client.say("OP_ExamineInfoRequestMsg", bytes(1) + number + number + bytes(2))
    (window,) = client.decoded("WS_ExamineInfo")
    assert window["item"]["info"]["unique_id"] == thing.id
    item = kinds.SWORD.to_bytes(4, "little")
    link = bytes((2,)) + bytes(4) + item + b"\0\1"
    if version > 561:
        link = bytes((2,)) + bytes(19) + bytes(8) + item + b"\0\1"
    client.say("OP_ExamineInfoRequestMsg", link)
    window = client.decoded("WS_ExamineInfo")[-1]
    assert window["item"]["footer"]["name"] == "Notched Training Sword"
    assert window["show_name"] == 1


@pytest.mark.parametrize("act", ["destroy", "use up"])
def test_what_goes_out_of_the_shared_bank_was_the_accounts(act: str) -> None:
    # Found by a simulation (seed 75): the ledger took it from the character, which had none.
    harness, client = scene()
    player = player_of(client)
    client.types(f"/summonitem {kinds.MARBLE}")
    player.holdings.has_bank = True
    client.types("/inventory move 0 0 -4 1")
    (thing,) = player.holdings.inventory.in_list(Where.SHARED)
    if act == "destroy":
        client.types("/inventory destroy 0")
    else:
        harness.parts.items.use_up(player, thing, 1, Owner(OwnerKind.USE))
        harness.parts.items.changed(player)
    harness.run(1.0)
    assert held(client) == []
    account = Owner(OwnerKind.ACCOUNT, player.character.account_id)
    found = finish(harness.stored.ledger.of_owner(account, 9))
    assert sorted((one.giver, one.taker) for one in found) == [
        (OwnerKind.ACCOUNT, OwnerKind.NOTHING if act == "destroy" else OwnerKind.USE),
        (OwnerKind.CHARACTER, OwnerKind.ACCOUNT),
    ]
