"""Things that players use: charges, food and drink, scrolls, refusals.

Texts, colors and their order are those of ../shared/data/recordings/items-546-deal; that nothing
happens for things without a script is in real-things-546-use-scribe.
"""

from __future__ import annotations

import pytest

from emu.items.held import Where
from emu.items.kinds import Slot
from emu.world.item_events import ItemConsumed, ItemScribed, ItemUsed
from tests.support.world import item_kinds as kinds
from tests.support.world.item_scenes import held, player_of, scene
from tests.support.world.worlds import Client, WorldHarness

VERSIONS = [546, 561, 1096, 1208, 60114]
BISCUIT, WATER, SCROLL, PRIMER = 920101, 920102, 920103, 920106
FOOD = "stack = 10, foods = {kind = %s, level = 3, duration = 600, satiation = 2}"
ROWS = (
    f'id = {BISCUIT}, name = "Oat Biscuit", slots = 4194304, {FOOD % 1}',
    f'id = {WATER}, name = "Well Water", slots = 8388608, {FOOD % 0}',
    f'id = {SCROLL}, name = "Scroll of Rain", scrolls = {{spell_id = 12, tier = 1}}',
    f'id = {PRIMER}, name = "Primer", recipe_books = {{recipe_id = {PRIMER}}}',
)


def use_scene(version: int = 546) -> tuple[WorldHarness, Client]:
    harness, client = scene(version)
    harness.kinds = harness.parts.items.kinds = kinds.item_kinds(ROWS)
    return harness, client


def answers(harness: WorldHarness, value: float) -> list[ItemUsed]:
    """Let each use be answered with a number; return the uses."""
    uses: list[ItemUsed] = []

    def used(event: ItemUsed) -> None:
        uses.append(event)
        event.answers.append(value)

    harness.world.events.subscribe(ItemUsed, used)
    return uses


@pytest.mark.parametrize("version", VERSIONS)
def test_each_use_takes_a_charge_and_the_last_one_the_thing(version: int) -> None:
    harness, client = use_scene(version)
    uses = answers(harness, 0)
    client.types(f"/summonitem {kinds.CHARM}")
    name = "use_item 0" if version > 561 else "use_item 256"
    said = [client.types(f"/{name}") for _ in range(3)]
    assert said == [[], [], ["Whistling Charm is out of charges.  It has been removed."]]
    assert held(client) == []
    assert client.types(f"/{name}") == []
    assert [one.thing.count for one in uses] == [3, 2, 1]
    sent = [name for name, _ in client.log]
    assert sent.count("OP_EqExamineInfoCmd") == 3
    assert client.decoded("WS_DisplayText")[-1]["color"] == 12


def test_old_clients_name_things_of_their_first_list_by_their_place() -> None:
    harness, client = use_scene()
    client.types(f"/summonitem {kinds.MARBLE}")
    client.types(f"/summonitem {kinds.CHARM}")
    harness.departures.leave(player_of(client), "quit", harness.now)
    back = harness.stand(1, 546)
    uses = answers(harness, 0)
    back.types("/use_item 255")  # the marble, which nobody can use
    back.types("/use_item 254")
    assert [one.kind.id for one in uses] == [kinds.CHARM]


def test_an_answer_below_zero_keeps_the_charge() -> None:
    harness, client = use_scene()
    answers(harness, -1)
    client.types(f"/summonitem {kinds.CHARM}")
    client.types("/use_item 256")
    assert held(client) == [(kinds.CHARM, 0, 3)]


def test_what_nobody_answers_keeps_its_charge_and_says_nothing() -> None:
    _, client = use_scene()
    client.types(f"/summonitem {kinds.CHARM}")
    assert client.types("/use_item 256") == []
    assert held(client) == [(kinds.CHARM, 0, 3)]


def test_an_adornment_says_that_it_cannot_be_put_on_anything() -> None:
    harness, client = scene()
    rows = ('id = 7, name = "Adornment of Might", is_usable = 1, adornments = {duration = 1.0}',)
    harness.kinds = harness.parts.items.kinds = kinds.item_kinds(rows)
    client.types("/summonitem 7")
    assert client.types("/use_item 256") == ["Adornments cannot be put on things on this server."]
    assert len(held(client)) == 1


def test_worn_out_things_and_the_dead_use_nothing() -> None:
    harness, client = use_scene()
    uses = answers(harness, 0)
    client.types(f"/summonitem {kinds.CHARM}")
    player = player_of(client)
    (charm,) = player.holdings.inventory
    player.holdings.inventory.set(charm, condition=0)
    (said,) = client.types("/use_item 256")
    assert said.endswith("is worn out and will not be effective until repaired.")
    player.holdings.inventory.set(charm, condition=100)
    player.spawn.hp_percent = 0
    assert client.types("/use_item 256") == ["You cannot do that right now."]
    assert uses == []


@pytest.mark.parametrize("words", ["", "-1", "255", "4294967296", "x", "999999999999999999999999"])
def test_nonsense_uses_nothing(words: str) -> None:
    harness, client = use_scene()
    uses = answers(harness, 0)
    client.types(f"/summonitem {kinds.PEBBLE} 3")
    client.types(f"/summonitem {kinds.CHARM}")
    for command in (
        "use_item", "use_equipped_item", "consume_food", "set_auto_consume", "scribe_scroll_item",
        "read read",
    ):  # fmt: skip
        assert client.types(f"/{command} {words}") == []
    assert uses == []
    assert held(client) == [(kinds.PEBBLE, 0, 3), (kinds.CHARM, 1, 3)]


def test_a_worn_thing_is_used_by_its_slot() -> None:
    harness, client = use_scene()
    uses = answers(harness, 0)
    usable = (
        'id = 920110, name = "Ember Ring", slots = 512, is_usable = 1, baubles = {cast_time = 1}'
    )
    harness.kinds = harness.parts.items.kinds = kinds.item_kinds([usable])
    client.types("/summonitem 920110")
    client.types("/inventory equip 0")
    client.types("/use_equipped_item 9")
    client.types("/use_equipped_item 10")
    assert [one.kind.id for one in uses] == [920110]
    assert [one[0] for one in held(client, Where.WORN)] == [920110]


# -- food and drink -------------------------------------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS)
def test_food_is_eaten_one_at_a_time(version: int) -> None:
    harness, client = use_scene(version)
    eaten: list[int] = []
    harness.world.events.subscribe(ItemConsumed, lambda event: eaten.append(event.kind.id))
    client.types(f"/summonitem {BISCUIT} 3")
    client.types(f"/summonitem {WATER} 2")
    client.types("/inventory equip 0")
    client.types("/inventory equip 1")
    food, drink = (20, 21) if version <= 561 else (22, 23)
    assert client.types(f"/consume_food {food}") == ["You eat a Oat Biscuit."]
    assert client.types(f"/consume_food {food}") == ["If you ate anymore you would explode!"]
    assert client.types(f"/consume_food {drink}") == ["You drink a Well Water."]
    assert client.types(f"/consume_food {drink}") == ["If you drank anymore you would explode!"]
    assert held(client, Where.WORN) == [(BISCUIT, 22, 2), (WATER, 23, 1)]
    harness.run(601.0)
    assert client.types(f"/consume_food {drink}") == ["You drink a Well Water."]
    assert held(client, Where.WORN) == [(BISCUIT, 22, 2)]
    assert eaten == [BISCUIT, WATER, WATER]


def test_who_eats_by_itself_eats_when_the_effect_ends() -> None:
    harness, client = use_scene()
    client.types(f"/summonitem {BISCUIT} 3")
    client.types("/inventory equip 0")
    said = client.types("/set_auto_consume 20 1")
    assert said[0] == "You decide to eat immediately whenever you become hungry."
    harness.run(1.0)
    assert held(client, Where.WORN) == [(BISCUIT, 22, 2)]
    assert Slot.FOOD in player_of(client).holdings.inventory.automatic
    harness.run(605.0)
    assert held(client, Where.WORN) == [(BISCUIT, 22, 1)]
    client.types("/set_auto_consume 20 0")
    harness.run(1300.0)
    assert held(client, Where.WORN) == [(BISCUIT, 22, 1)]


def test_a_meal_lasts_beyond_a_new_session() -> None:
    harness, client = use_scene()
    client.types(f"/summonitem {BISCUIT} 3")
    client.types("/inventory equip 0")
    client.types("/consume_food 20")
    harness.departures.leave(player_of(client), "quit", harness.now)
    back = harness.stand(1, 546)
    assert back.types("/consume_food 20") == ["If you ate anymore you would explode!"]


# -- learning --------- -------------------------------------------------------------------------


def test_a_scroll_is_used_up_by_whoever_teaches_it() -> None:
    harness, client = use_scene()
    for item in (SCROLL, SCROLL):
        client.types(f"/summonitem {item}")
    first, second = (one.id for one in player_of(client).holdings.inventory)
    refused = ["You do not meet one of the requirements to scribe, due to class or level."]
    assert client.types(f"/scribe_scroll_item {first}") == refused
    said: list[bool] = [False, True]
    asked: list[int] = []

    def teaches(event: ItemScribed) -> None:
        asked.append(event.kind.id)
        event.answers.append(said.pop(0))

    harness.world.events.subscribe(ItemScribed, teaches)
    assert client.types(f"/scribe_scroll_item {first}") == []
    assert len(held(client)) == 2
    assert client.types(f"/scribe_scroll_item {second}") == []
    assert held(client) == [(SCROLL, 0, 1)]
    assert asked == [SCROLL, SCROLL]
