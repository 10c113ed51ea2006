"""Collections: adding pieces, the window, handing in, and what is stored.

Source of messages and texts: items-546-deal and items-561-deal.
"""

from __future__ import annotations

from typing import Any

import pytest
from twisted.internet.defer import ensureDeferred

from emu.content.crafts import Collection, CollectionReward
from emu.errors import StoreError
from emu.ledger import Owner, OwnerKind
from emu.model import WorldCharacter
from emu.quests.journal import Journal
from emu.versions import LAST_OLD_CLIENT
from emu.world.events import Arrived, LeftZone
from emu.world.item_events import CollectionDone
from tests.support.coroutines import finish
from tests.support.world import item_kinds as kinds
from tests.support.world.craft_scenes import CraftScene, rows
from tests.support.world.trade_scenes import VERSIONS, coins_of, held, player_of
from tests.support.world.worlds import Client

SHELLS = 9101
SMOOTH, RIBBED = 910027, 910028
ROWS = (
    'id = 910027, name = "Smooth Fossil Shell", icon = 180, is_collectable = 1',
    'id = 910028, name = "Ribbed Fossil Shell", icon = 181, is_collectable = 1, stack = 20',
)


def scene_of(version: int = 546, *rewards: CollectionReward, **values: Any) -> CraftScene:
    scene = CraftScene(version, **values)
    scene.harness.kinds = kinds.item_kinds(ROWS)
    scene.harness.parts.items.kinds = scene.harness.kinds
    given = rewards or (CollectionReward("item", kinds.RING, 1), CollectionReward("coin", 77, 1))
    scene.harness.crafts._collections[SHELLS] = Collection(
        SHELLS, "Shells of the shore", "Beginners", 1, (SMOOTH, RIBBED), given
    )
    scene.harness.crafts._with = {SMOOTH: (SHELLS,), RIBBED: (SHELLS,)}
    return scene


def place_of(client: Client, item: int) -> int:
    player = player_of(client)
    thing = player.holdings.inventory.of_kind(item)[0]
    place = player.session.items.place_of(thing.id)
    assert place is not None
    return place


def adds(client: Client, item: int) -> list[str]:
    client.types(f"/summonitem {item}")
    return client.types(f"/collection_additem {SHELLS} {place_of(client, item)}")


def window(client: Client) -> str:
    return (
        "WS_QuestRewardPackMsg" if client.dialect.version <= LAST_OLD_CLIENT else "WS_QuestComplete"
    )


def pieces(client: Client) -> list[tuple[int, int, bool]]:
    """Kind, place and mark of each stored piece."""
    owner = Owner(OwnerKind.PIECES, player_of(client).id)
    found = finish(client.harness.stored.things.of([owner])).get(owner, [])
    return sorted((one.item_id, one.place.slot, one.is_attuned) for one in found)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_recorded_pieces(version: int) -> None:
    scene = scene_of(version)
    one = scene.one
    one.types(f"/summonitem {SMOOTH}")
    before = len(one.log)
    read = one.types(f"/collection_additem {SHELLS} {place_of(one, SMOOTH)}")
    assert read == ["You added: Smooth Fossil Shell to Shells of the shore"]
    wanted = (
        "OP_EqCollectionItemCmd", "OP_EqDisplayTextCmd", "OP_OnscreenMsgMsg",
        "OP_UpdateInventoryMsg", "OP_EqCollectionUpdateCmd",
    )  # fmt: skip
    assert [name for name, _ in one.log[before:] if name in wanted] == [*wanted]
    assert rows(one, "WS_CollectionItem", before) == [
        {"collection_id": SHELLS, "collection_item_num": 0, "add": 1}
    ]
    (shown,) = rows(one, "WS_OnScreenMsg", before)
    # The byte 10 behind the recorded text is the length of the sound's name.
    assert shown["text"] == read[0]
    assert (shown["unknown"], shown["message_type"], shown["size"]) == (5, "quest_item", 3.5)
    assert (shown["red"], shown["green"], shown["blue"]) == (0x64, 0xFF, 0xFF)
    (update,) = rows(one, "WS_CollectionUpdate", before)
    (row,) = update["collection_array"]
    assert (row["collection_name"], row["collection_category"]) == (
        "Shells of the shore", "Beginners",
    )  # fmt: skip
    assert (row["completed"], row["ready_to_turn_in"], row["unknown"]) == (0, 0, 1)
    assert [piece["item_flag"] for piece in row["item_array"]] == [1, 0]
    assert [piece["item_icon"] for piece in row["item_array"]] == [180, 181]
    adds(one, RIBBED)
    (row,) = rows(one, "WS_CollectionUpdate")[-1]["collection_array"]
    assert (row["completed"], row["ready_to_turn_in"]) == (0, 1)
    assert held(one) == []
    assert pieces(one) == [(SMOOTH, 0, False), (RIBBED, 1, False)]
    assert scene.is_right()


def test_the_bytes_are_those_recorded() -> None:
    """Source: items-546-deal at 122.9 s."""
    scene = scene_of()
    before = len(scene.one.log)
    adds(scene.one, SMOOTH)
    (payload,) = [one for name, one in scene.one.log[before:] if name == "OP_EqCollectionUpdateCmd"]
    assert payload.hex() == (
        "0100011300" + b"Shells of the shore".hex() + "0900" + b"Beginners".hex()
        + "0000" "8d230000" "01" "00" "0200" "b400" "1300" + b"Smooth Fossil Shell".hex()
        + "01" "b500" "1300" + b"Ribbed Fossil Shell".hex() + "00" "01"
    )  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS)
def test_a_collection_is_handed_in_once(version: int) -> None:
    scene = scene_of(version)
    one, collecting = scene.one, scene.harness.parts.crafting.collecting
    heard: list[int] = []
    scene.harness.world.events.subscribe(
        CollectionDone, lambda event: heard.append(event.collection)
    )
    assert collecting.hand_in(player_of(one)) is False
    adds(one, SMOOTH)
    assert collecting.hand_in(player_of(one)) is False
    adds(one, RIBBED)
    before = len(one.log)
    assert collecting.hand_in(player_of(one)) is True
    (shown,) = rows(one, window(one), before)
    fields = shown.get("reward_data", shown)
    assert fields["max_coin"] == 77
    assert [row["reward_id"] for row in fields["rewards_array"]] == [kinds.RING]
    assert one.types("/accept_reward 0 0") == [
        "You receive 77 Copper for completing Shells of the shore"
    ]
    assert (held(one), coins_of(one)) == ([(kinds.RING, 1)], 77)
    assert heard == [SHELLS]
    one.types("/accept_reward 0 0")
    assert collecting.hand_in(player_of(one)) is False
    assert (held(one), coins_of(one)) == ([(kinds.RING, 1)], 77)
    (row,) = rows(one, "WS_CollectionUpdate")[-1]["collection_array"]
    assert (row["completed"], row["ready_to_turn_in"]) == (1, 0)
    assert pieces(one) == [(SMOOTH, 0, True), (RIBBED, 1, True)]
    assert scene.is_right()


def test_answers_that_wait_give_the_reward_once() -> None:
    """The second answer took the marks of the first one away: the collection was ready again."""
    scene = scene_of(546, CollectionReward("coin", 77, 1))
    one, collecting = scene.one, scene.harness.parts.crafting.collecting
    player = player_of(one)
    adds(one, SMOOTH)
    adds(one, RIBBED)
    collecting.hand_in(player)
    finish(player.holdings.gate.pass_through())
    scene.harness.start = ensureDeferred
    one.types("/accept_reward 0 0")
    one.types("/accept_reward 0 0")
    scene.harness.start = finish
    player.holdings.gate.leave()
    assert (coins_of(one), collecting.ready(player)) == (77, [])
    assert not collecting.hand_in(player)
    assert pieces(one) == [(SMOOTH, 0, True), (RIBBED, 1, True)]


def test_experience_is_stored_with_the_things_of_a_collection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A crash behind the transaction, before the experience was given, takes none of it."""
    rewards = (CollectionReward("item", kinds.RING, 1), CollectionReward("xp", 40, 1))
    scene = scene_of(546, *rewards)
    for item in (SMOOTH, RIBBED):
        adds(scene.one, item)
    scene.harness.run(1.0)
    number = player_of(scene.one).id
    stored: list[WorldCharacter] = []

    async def settles(movement: Any) -> Any:
        moved = await settle(movement)
        stored.append(scene.harness.store.rows[number])
        return moved

    ledger = scene.harness.parts.ledger
    settle = ledger.settle
    monkeypatch.setattr(ledger, "settle", settles)
    before = player_of(scene.one).character.experience
    scene.harness.parts.crafting.collecting.hand_in(player_of(scene.one))
    assert scene.harness.parts.crafting.collecting.answer(player_of(scene.one), 0)
    assert Journal(stored[-1].quests).points_due == 40
    assert stored[-1].experience == before
    assert player_of(scene.one).character.experience > before
    assert player_of(scene.one).journal.points_due == 0
    scene.harness.service.send_away(player_of(scene.one), "crash", scene.harness.now)
    scene.harness.run(1.0)
    scene.harness.store.rows[number] = stored[-1]
    again = player_of(scene.enter(1))
    assert (again.character.experience > before, again.journal.points_due) == (True, 0)


def test_experience_of_a_refused_collection_is_not_due(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = scene_of(546, CollectionReward("item", kinds.RING, 1), CollectionReward("xp", 40, 1))
    for item in (SMOOTH, RIBBED):
        adds(scene.one, item)
    player, collecting = player_of(scene.one), scene.harness.parts.crafting.collecting
    before = player.character.experience

    async def away(_movement: Any) -> Any:
        scene.harness.world.events.publish(Arrived(player, scene.harness.now))
        raise StoreError("the database does not answer")

    monkeypatch.setattr(scene.harness.parts.ledger, "settle", away)
    collecting.hand_in(player)
    assert collecting.answer(player, 0)
    assert (player.character.experience, player.journal.points_due) == (before, 0)
    monkeypatch.undo()
    assert collecting.answer(player, 0)
    assert player.character.experience > before


def test_an_offer_ends_with_the_stay_in_the_zone() -> None:
    """A player took the reward wherever it was, without a collector."""
    scene = scene_of()
    one, collecting = scene.one, scene.harness.parts.crafting.collecting
    adds(one, SMOOTH)
    adds(one, RIBBED)
    collecting.hand_in(player_of(one))
    scene.harness.world.events.publish(LeftZone(player_of(one)))
    assert one.types("/accept_reward 0 0") == ["no reward waits for you"]
    assert (held(one), coins_of(one)) == ([], 0)
    assert collecting.hand_in(player_of(one))
    one.types("/accept_reward 0 0")
    assert (held(one), coins_of(one)) == ([(kinds.RING, 1)], 77)


def test_one_of_the_choices_is_given_and_nothing_else() -> None:
    scene = scene_of(
        60114, CollectionReward("selectable", kinds.RING, 1),
        CollectionReward("selectable", kinds.PEBBLE, 5), CollectionReward("xp", 50, 1),
    )  # fmt: skip
    one = scene.one
    adds(one, SMOOTH)
    adds(one, RIBBED)
    scene.harness.parts.crafting.collecting.hand_in(player_of(one))
    count = len(rows(one, window(one)))
    assert one.types(f"/accept_reward {kinds.SWORD} {kinds.SWORD}") == []
    assert one.types("/accept_reward 0 0") == []
    assert len(rows(one, window(one))) == count + 2  # the window comes again
    assert held(one) == []
    assert one.types(f"/accept_reward {kinds.PEBBLE} {kinds.PEBBLE}") == ["You gain 50 experience!"]
    assert held(one) == [(kinds.PEBBLE, 5)]
    assert scene.is_right()


def test_without_free_places_the_window_comes_again() -> None:
    scene = scene_of()
    one = scene.one
    adds(one, SMOOTH)
    adds(one, RIBBED)
    for _ in range(6):
        one.types(f"/summonitem {kinds.MARBLE}")
    scene.harness.parts.crafting.collecting.hand_in(player_of(one))
    assert one.types("/accept_reward 0 0") == [
        "You do not have enough free slots!  Free some slots and try again."
    ]
    assert coins_of(one) == 0
    one.types("/inventory destroy 0")
    one.types("/accept_reward 0 0")
    assert coins_of(one) == 77
    assert scene.is_right()


def test_what_the_store_refuses_changes_nothing() -> None:
    scene = scene_of()
    one = scene.one
    one.types(f"/summonitem {SMOOTH}")
    scene.harness.run(1.0)
    scene.harness.store.broken = True
    one.types(f"/collection_additem {SHELLS} 0")
    assert held(one) == [(SMOOTH, 1)]
    assert scene.harness.parts.crafting.collecting.begun(player_of(one)) == []
    scene.harness.store.broken = False
    assert len(one.types(f"/collection_additem {SHELLS} 0")) == 1
    adds(one, RIBBED)
    scene.harness.parts.crafting.collecting.hand_in(player_of(one))
    scene.harness.store.broken = True
    one.types("/accept_reward 0 0")
    assert (held(one), coins_of(one)) == ([], 0)
    scene.harness.store.broken = False
    one.types("/accept_reward 0 0")
    assert coins_of(one) == 77
    assert scene.is_right()


@pytest.mark.parametrize("words", ["", "9101", "9101 99", "9101 -1", "77 0", "9101 x", "0 0"])
def test_nonsense_changes_nothing(words: str) -> None:
    scene = scene_of()
    scene.one.types(f"/summonitem {SMOOTH}")
    assert scene.one.types(f"/collection_additem {words}".rstrip()) == []
    assert held(scene.one) == [(SMOOTH, 1)]


def test_a_piece_is_added_once_and_others_stay() -> None:
    scene = scene_of()
    one = scene.one
    adds(one, SMOOTH)
    assert adds(one, SMOOTH) == []
    assert held(one) == [(SMOOTH, 1)]
    one.types(f"/summonitem {RIBBED} 3")
    one.types(f"/collection_additem {SHELLS} {place_of(one, RIBBED)}")
    assert sorted(held(one)) == [(SMOOTH, 1), (RIBBED, 2)]
    one.types(f"/summonitem {kinds.MARBLE}")
    assert one.types(f"/collection_additem {SHELLS} {place_of(one, kinds.MARBLE)}") == []
    assert scene.is_right()


@pytest.mark.parametrize("version", VERSIONS)
def test_collections_are_there_after_a_return(version: int) -> None:
    scene = scene_of(version)
    adds(scene.one, SMOOTH)
    scene.harness.departures.lose(player_of(scene.one), scene.harness.now)
    scene.harness.run(600.0)
    again = scene.harness.stand(1, version)
    (row,) = rows(again, "WS_CollectionUpdate")[0]["collection_array"]
    assert [piece["item_flag"] for piece in row["item_array"]] == [1, 0]
    scene.one = again
    adds(again, RIBBED)
    assert scene.harness.parts.crafting.collecting.ready(player_of(again))
    assert scene.is_right()


@pytest.mark.parametrize("version", VERSIONS)
def test_the_command_shows_where_a_piece_fits(version: int) -> None:
    """To examine it shows its window alone, as in real-harvest-1208-QueensColony-collect."""
    scene = scene_of(version)
    one = scene.one
    one.types(f"/summonitem {RIBBED}")
    thing = player_of(one).holdings.inventory.of_kind(RIBBED)[0]
    number = thing.id.to_bytes(4, "little")
    before = len(one.log)
    one.say("OP_ExamineInfoRequestMsg", b"\0" + number + number + bytes(2))
    assert not rows(one, "WS_CollectionFilter", before)
    one.types(f"/collection_filter_matchitem {RIBBED}")
    (shown,) = rows(one, "WS_CollectionFilter", before)
    assert [
        (row["collection_id"], row["collection_item_num"]) for row in shown["filter_array"]
    ] == [(SHELLS, 1)]
    assert (shown["item_icon"], shown["item_name"], shown["item_id"]) == (
        181, "Ribbed Fossil Shell", RIBBED,
    )  # fmt: skip
    adds(one, RIBBED)
    one.types(f"/collection_filter_matchitem {RIBBED}")
    assert rows(one, "WS_CollectionFilter")[-1]["num_filters"] == 0


def test_the_list_of_collections() -> None:
    scene = scene_of()
    assert scene.one.types("/collections") == ["You have no collections."]
    adds(scene.one, SMOOTH)
    assert scene.one.types("/collections") == ["Shells of the shore: 1 of 2 pieces, not complete"]
