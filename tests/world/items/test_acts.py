"""The command `inventory`: its refusals, and arguments that mean nothing.

Texts are those of ../shared/data/recordings/items-546-carry.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from emu.items.held import Where
from emu.ledger import Owner, OwnerKind
from emu.world.item_events import (
    ItemDestroyed,
    ItemEquipped,
    ItemMoved,
    ItemRemoved,
    ItemUnequipped,
    RecipeExamined,
    SpellExamined,
)
from emu.world.items.acts import USAGE
from emu.world.items.items import NoNumbers
from emu.world.items.texts import NOTHING_TO_EXAMINE
from tests.support.coroutines import finish
from tests.support.world import item_kinds as kinds
from tests.support.world.item_scenes import held, player_of, scene
from tests.support.world.worlds import Client

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


SHOWN = ("OP_UpdateInventoryMsg", "OP_EqExamineInfoCmd")


@pytest.mark.parametrize(
    ("words", "order", "place"),
    [("2", [0, 1], 0), ("2 -999 255 0 0", [0, 1], 0), ("2 0 4", [1, 0], 4)],
)
def test_lists_of_taking_off_have_the_recorded_order(
    words: str, order: list[int], place: int
) -> None:
    """Clients from 562 on name the list -999 for any place (items-1208-carry)."""
    _, client = scene(1208)
    client.types(f"/summonitem {kinds.CAP}")
    client.types("/inventory equip 0")
    before = len(client.log)
    assert client.types(f"/inventory unequip {words}") == []
    lists = [body[-1] for name, body in client.log[before:] if name == "OP_UpdateInventoryMsg"]
    assert (lists, held(client)) == (order, [(kinds.CAP, place, 1)])


@pytest.mark.parametrize(("rank", "skill"), [(0, ""), (100, "(Fletching) ")])
def test_game_masters_read_which_skill_is_missing(rank: int, skill: str) -> None:
    """The recorded player was one (items-*-carry)."""
    harness, client = scene()
    number = next(
        one.id for one in harness.world.knowledge.skills.values() if one.name == "Fletching"
    )
    row = f'id = 910099, name = "a bracer", slots = 64, armor = {{low = 1}}, skill = {number}'
    harness.parts.items.kinds = harness.kinds = kinds.item_kinds([row])
    client.types("/summonitem 910099")
    player = player_of(client)
    player.character = replace(player.character, admin_status=rank)
    text = f"You lack the skill {skill}required to equip this item."
    assert client.types("/inventory equip 0") == [text]


def test_a_container_for_homes_is_shown_when_it_comes() -> None:
    """As bags are (items-*-carry)."""
    harness, client = scene()
    row = 'id = 910033, name = "Lacquered Chest", containers = {slots = 24}'
    harness.parts.items.kinds = harness.kinds = kinds.item_kinds([row])
    before = len(client.log)
    client.types("/summonitem 910033")
    assert [name for name, _ in client.log[before:] if name in SHOWN] == [*SHOWN]


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
    before = len(client.log)
    assert client.types("/attune_inv 0 1 0 -1") == []
    sent = [name for name, _ in client.log[before:] if name in SHOWN]
    assert sent == ["OP_EqExamineInfoCmd", *["OP_UpdateInventoryMsg"] * 2]
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
    client.say("OP_ExamineInfoRequestMsg", link[:-1] + bytes(1))
    assert client.decoded("WS_ExamineInfo")[-1]["show_name"] == 0


@pytest.mark.parametrize("act", ["destroy", "use up"])
def test_what_goes_out_of_the_shared_bank_was_the_accounts(act: str) -> None:
    # Found by a simulation (seed 75): the ledger took it from the character, which had none.
    harness, client = scene()
    player = player_of(client)
    client.types(f"/summonitem {kinds.MARBLE}")
    harness.parts.item_acts.has_bank = lambda _player: True
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


def test_two_of_a_kind_change_places_with_the_shared_bank() -> None:
    # Found by a simulation (seed 503054): one was stored where the other one lay.
    harness, client = scene()
    player = player_of(client)
    harness.parts.item_acts.has_bank = lambda _player: True
    for _ in range(2):
        client.types(f"/summonitem {kinds.SWORD}")
    client.types("/inventory move 0 0 -4 1")
    (banked,), (own,) = (
        player.holdings.inventory.in_list(one) for one in (Where.SHARED, Where.BAGS)
    )
    client.types(f"/inventory move {player.session.items.place_of(own.id)} 0 -4 1")
    account, mine = (
        Owner(OwnerKind.ACCOUNT, player.character.account_id),
        Owner.character(player.id),
    )
    stored = finish(harness.stored.things.of([account, mine]))
    assert {owner: [one.id for one in some] for owner, some in stored.items()} == {
        account: [own.id], mine: [banked.id],
    }  # fmt: skip
    assert [stored[mine][0].place.where, stored[account][0].place.where] == [
        Where.BAGS, Where.SHARED,
    ]  # fmt: skip
    swapped = finish(harness.stored.ledger.of_owner(account, 9))[:2]
    assert {(one.giver, one.taker, one.amount) for one in swapped} == {
        (OwnerKind.ACCOUNT, OwnerKind.CHARACTER, 1), (OwnerKind.CHARACTER, OwnerKind.ACCOUNT, 1),
    }  # fmt: skip


NOT_NOW = "You may not swap items while in combat."


@pytest.mark.parametrize(("is_allowed", "answer"), [(True, []), (False, [NOT_NOW])])
def test_a_rule_says_whether_who_fights_may_change_what_it_wears(
    is_allowed: bool, answer: list[str]
) -> None:
    """eq2-items.md 5.1 and eq2-real-content.md 3: AllowPlayerEquipCombat, which is 1."""
    harness, client = scene()
    client.types(f"/summonitem {kinds.SWORD}")
    rules = harness.world.rules
    assert rules.equip_in_fights
    harness.world.rules = replace(rules, equip_in_fights=is_allowed)
    player_of(client).spawn.set_word("combat", on=True)
    assert client.types("/inventory equip 0") == answer
    assert bool(held(client, Where.WORN)) == is_allowed
    player_of(client).spawn.set_word("combat", on=False)
    client.types("/inventory equip 0")
    player_of(client).spawn.set_word("combat", on=True)
    assert client.types("/inventory swap_equip 0 1 0") == answer
    assert client.types(f"/inventory unequip {int(is_allowed)}") == answer
    assert bool(held(client, Where.WORN)) != is_allowed


def test_nobody_unpacks_in_a_fight() -> None:
    """eq2-items.md 5: in combat refused; the line is our own."""
    harness, client = scene()
    content = f"{{set_id = 910095, id = 0, item_id = {kinds.PEBBLE}, stack = 3}}"
    row = f'id = 910095, name = "a crate", sets = [{content}]'
    harness.parts.items.kinds = harness.kinds = kinds.item_kinds([row])
    client.types("/summonitem 910095")
    player_of(client).spawn.set_word("combat", on=True)
    assert client.types("/inventory unpack 0") == ["You cannot unpack that while you fight."]
    assert held(client) == [(910095, 0, 1)]
    player_of(client).spawn.set_word("combat", on=False)
    assert client.types("/inventory unpack 0") == []


def test_a_crate_is_unpacked_whole_or_not_at_all() -> None:
    """A thing of which a character may have one keeps the whole crate closed."""
    harness, client = scene()
    content = [
        f"{{set_id = 910095, id = {number}, item_id = {item}, stack = {count}}}"
        for number, (item, count) in enumerate([(kinds.PEBBLE, 3), (kinds.SEAL, 1)])
    ]
    row = f'id = 910095, name = "a crate", sets = [{", ".join(content)}]'
    harness.parts.items.kinds = harness.kinds = kinds.item_kinds([row])
    client.types("/summonitem 910095")
    assert client.types("/inventory unpack 0") == []
    assert sorted(held(client)) == [(kinds.PEBBLE, 0, 3), (kinds.SEAL, 1, 1)]
    client.types("/summonitem 910095")
    before = held(client)
    assert client.types("/inventory unpack 2") != []
    assert held(client) == before


def test_a_crate_stays_when_there_are_no_numbers_for_its_things(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness, client = scene()
    content = [
        f"{{set_id = 910095, id = {number}, item_id = {item}, stack = 1}}"
        for number, item in enumerate([kinds.MARBLE, kinds.CAP])
    ]
    row = f'id = 910095, name = "a crate", sets = [{", ".join(content)}]'
    items = harness.parts.items
    items.kinds = harness.kinds = kinds.item_kinds([row])
    client.types("/summonitem 910095")
    before, left = held(client), [77_000]

    def one_number() -> int:
        if not left:
            raise NoNumbers("the database does not answer")
        return left.pop()

    monkeypatch.setattr(items, "new_number", one_number)
    client.types("/inventory unpack 0")
    assert held(client) == before


@pytest.mark.parametrize(
    "line", ["inventory destroy 0", "inventory equip 0", "attune_inv 0 1 0 -1"]
)
def test_the_dead_do_nothing_with_their_things(line: str) -> None:
    """Source: docs/protocol/world/items.md#acts."""
    _, client = scene()
    player = player_of(client)
    client.types(f"/summonitem {kinds.CAP}")
    player.spawn.sheet.health.set_current(0)
    player.spawn.show_pools()
    before = held(client)
    assert client.types(f"/{line}") == ["You cannot do that right now."]
    assert held(client) == before


def test_what_cannot_be_worn_is_not_attuned_for_good() -> None:
    _, client = scene()
    client.types(f"/summonitem {kinds.TUNIC}")
    player = player_of(client)
    inventory = player.holdings.inventory
    (thing,) = inventory
    kind = inventory.kind(thing)
    inventory._kinds[kind.id] = replace(kind, level=60)
    assert client.types("/attune_inv 0 1 0 -1")[-1].startswith("You must be at least level 60")
    assert [one.is_attuned for one in inventory] == [False]
    inventory._kinds[kind.id] = kind
    inventory.locked.add(thing.id)
    assert client.types("/attune_inv 0 1 0 -1") == []
    assert [one.is_attuned for one in inventory] == [False]
    client.types(f"/summonitem {kinds.CAP}")
    assert client.types("/attune_inv 1 1 0 -1") == []
    assert held(client, Where.WORN) == []


def test_a_thing_is_taken_from_sale_and_offered_again() -> None:
    _, client = scene()
    client.types(f"/summonitem {kinds.CAP}")
    inventory = player_of(client).holdings.inventory
    (thing,) = inventory
    for words, is_kept in (
        (f"{thing.id} 1", True), (f"{thing.id} 0", False), (f"{thing.id << 32} 1", True),
        (f"{thing.id}", False),
    ):  # fmt: skip
        client.types(f"/inventory nosale {words}")
        assert [one.is_not_for_sale for one in inventory] == [is_kept]


def test_a_cap_is_shown_in_place_of_another_one() -> None:
    _, client = scene()
    client.types(f"/summonitem {kinds.CAP}")
    client.types("/inventory equip 0 2 0 0")
    assert held(client, Where.WORN) == [(kinds.CAP, 2, 1)]
    client.types("/inventory unequip 2 0 0 0 0")
    client.types("/inventory equip 0 2 0 1")
    assert held(client, Where.APPEARANCE) == [(kinds.CAP, 2, 1)]
    assert client.types("/inventory unequip 2 0 0 0 0") == []
    assert held(client, Where.APPEARANCE) == [(kinds.CAP, 2, 1)]
    client.types("/inventory unequip 2 0 3 0 1")
    assert held(client) == [(kinds.CAP, 3, 1)]
    client.types(f"/inventory equip {place_of(client)} 2")
    assert client.types("/inventory unequip 2 0 50") != []
    assert held(client, Where.WORN) == [(kinds.CAP, 2, 1)]


def place_of(client: Client) -> int:
    """Return the place of the record of the first thing in the bags."""
    player = player_of(client)
    place = player.session.items.place_of(player.holdings.inventory.in_list(Where.BAGS)[0].id)
    assert place is not None
    return place


def test_weapons_change_hands() -> None:
    _, client = scene()
    client.types(f"/summonitem {kinds.SWORD}")
    client.types("/inventory equip 0")
    assert held(client, Where.WORN) == [(kinds.SWORD, 0, 1)]
    assert client.types("/inventory swap_equip 0 1 0") == []
    assert held(client, Where.WORN) == [(kinds.SWORD, 1, 1)]
    for words in ("1 0 3", "1 2 0", "99 0 0", "1 99 0"):
        assert client.types(f"/inventory swap_equip {words}") != [], words
        assert held(client, Where.WORN) == [(kinds.SWORD, 1, 1)]


def test_acts_are_events() -> None:
    harness, client = scene()
    seen: list[object] = []
    for event in (ItemMoved, ItemEquipped, ItemUnequipped, ItemDestroyed, ItemRemoved):
        harness.world.events.subscribe(event, lambda event: seen.append(type(event)))
    client.types(f"/summonitem {kinds.CAP}")
    client.types(f"/summonitem {kinds.CAP}")
    for words, expected in (
        ("move 0 3 0 1", [ItemMoved]),
        ("equip {}", [ItemEquipped]),
        ("equip {}", [ItemEquipped, ItemUnequipped]),
        ("unequip 2 0 {slot}", [ItemUnequipped, ItemEquipped]),
        ("unequip 2", [ItemUnequipped]),
    ):
        seen.clear()
        ((_, slot, _), *_) = held(client)
        client.types(f"/inventory {words.format(place_of(client), slot=slot)}")
        assert sorted(map(str, seen)) == sorted(map(str, expected)), words
    seen.clear()
    client.types(f"/inventory destroy {place_of(client)}")
    assert seen == [ItemDestroyed, ItemRemoved]


def test_without_the_shared_bank_nothing_goes_there() -> None:
    harness, client = scene()
    harness.parts.item_acts.has_bank = lambda _player: True
    client.types(f"/summonitem {kinds.PEBBLE}")
    player_of(client).holdings.has_shared = False
    refused = ["Could not move item to that location."]
    assert client.types("/inventory move 0 0 -4 1") == refused
    assert client.types("/inventory pop 0 -4") == refused
    player_of(client).holdings.has_shared = True
    assert client.types("/inventory move 0 0 -4 1") == []


def test_a_worn_out_thing_says_so() -> None:
    _, client = scene()
    client.types(f"/summonitem {kinds.CAP}")
    inventory = player_of(client).holdings.inventory
    (thing,) = inventory
    inventory.set(thing, condition=0)
    lines = client.types("/inventory equip 0")
    assert len(lines) == 1
    assert lines[0].endswith("is worn out and will not be effective until repaired.")
    assert client.types("/inventory") == [USAGE]
    assert client.types("/inventory dance") == []


@pytest.mark.parametrize("version", [546, 1208])
def test_requests_to_examine_are_passed_on_by_their_type(version: int) -> None:
    harness, client = scene(version)
    seen: list[Any] = []
    for event in (SpellExamined, RecipeExamined):
        harness.world.events.subscribe(event, seen.append)
    layout = client.dialect.layout("WS_ExamineInfoRequestMsg")
    number = "unique_id" if version == 546 else "id"
    for fields in ({"type": 3, "id": 110012}, {"type": 4, "id": 110002}, {"type": 5, number: 77}):
        client.say("OP_ExamineInfoRequestMsg", layout.encode(fields)[:36])
    spell, effect, recipe = seen
    assert (spell.spell_id, spell.is_effect) == (110012, False)
    assert (effect.spell_id, effect.is_effect) == (110002, True)
    assert recipe.recipe == 77
    before = len(client.decoded("WS_ExamineInfo"))
    client.say("OP_ExamineInfoRequestMsg", layout.encode({"type": 9})[:36])
    assert client.decoded("WS_DisplayText")[-1]["text"] == NOTHING_TO_EXAMINE
    assert len(client.decoded("WS_ExamineInfo")) == before
