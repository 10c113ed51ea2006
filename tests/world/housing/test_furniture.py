"""Things that stand in houses: placed, moved, picked up, and there again after a restart.

The messages are EQ2Emulator's: it answers ``place_house_item`` with OP_EnterMoveObjectModeMsg as
soon as the client knows the spawn, and turns what the client places by half a turn.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from emu.errors import StoreError
from emu.houses import AccessLevel
from emu.items.held import Where
from emu.ledger import Owner, OwnerKind
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from emu.world.housing import furniture
from tests.support.coroutines import finish
from tests.support.world import item_kinds as kinds
from tests.support.world.house_scenes import HouseScene
from tests.support.world.worlds import Client

TABLE, STATUE, BLANK, CHAIR, PORTRAIT, RELIC = range(77_001, 77_007)
VERSIONS = [546, 561, 1096, 1208, 60114]


LOOK = "appearances = {id = 1, model = 1581}"
TABLE_ROW = f'name = "a table", stack = 5, furniture = {{where = 1}}, {LOOK}'
STATUE_ROW = f'name = "a statue", house_lore = 1, furniture = {{where = 0}}, {LOOK}'
BLANK_ROW = 'name = "a blank", furniture = {where = 0}'
SINGLE = f"furniture = {{where = 0}}, {LOOK}"
ROWS = (
    f"id = {TABLE}, {TABLE_ROW}", f"id = {STATUE}, {STATUE_ROW}", f"id = {BLANK}, {BLANK_ROW}",
    f'id = {CHAIR}, name = "a chair", {SINGLE}',
    f'id = {PORTRAIT}, name = "a portrait", notrade = 1, {SINGLE}',
    f'id = {RELIC}, name = "a relic", lore = 1, {SINGLE}',
)  # fmt: skip


class Furnished(HouseScene):
    """A player in its house, with a table, a statue and something without a model."""

    def __init__(self, version: int = 546) -> None:
        super().__init__(version, admin_status=100)
        self.harness.kinds = kinds.item_kinds(ROWS)
        self.harness.parts.items.kinds = self.harness.kinds
        self.version = version
        self.buys()
        self.enters()
        (self.house,) = self.owned()

    def gets(self, *items: int) -> list[int]:
        """Give the player things; return their numbers."""
        for item in items:
            self.client.types(f"/summonitem {item}")
        self.harness.run(1.0)
        held = self.player.holdings.inventory.in_list(Where.BAGS)
        return [one.id for one in held if one.item_id in items]

    def begins(self, number: int) -> list[str]:
        lines = self.client.types(f"/place_house_item {number}")
        self.harness.run(1.0)
        return lines

    def puts(
        self, x: float, *, index: int = 0, heading: float = 10.0, client: Client | None = None
    ) -> None:
        client, at = client or self.client, self.player.position
        fields = {"spawn_id": index, "x": x, "y": at.y, "z": at.z, "heading": heading}
        layout = client.dialect.layout("WS_PlaceMoveableObject")
        client.say("OP_PositionMoveableObject", layout.encode(fields))
        self.harness.run(1.0)

    def places(self, item: int = TABLE, x: float | None = None) -> Spawn:
        (number,) = self.gets(item)
        assert self.begins(number) == []
        self.puts(self.player.position.x if x is None else x)
        (spawn,) = self.standing(item)
        return spawn

    def standing(self, item: int = TABLE) -> list[Spawn]:
        name = self.harness.kinds.get(item)
        assert name is not None
        return [one for one in self.player.zone if one.name == name.name]

    def stored(self) -> list[tuple[int, float]]:
        rows = finish(self.harness.stored.houses.things(self.house.id))
        return [(thing.item_id, placed.x) for thing, placed in rows]

    def bags(self) -> list[int]:
        return [one.item_id for one in self.player.holdings.inventory.in_list(Where.BAGS)]

    def comes_again(self) -> None:
        """Let the player leave until its house has ended, and come back."""
        self.harness.service.send_away(self.player, "test", self.harness.now)
        self.harness.run(400.0)
        self.client = self.harness.stand(5, self.version)
        assert self.client.player is not None
        self.player = self.client.player
        self.harness.run(1.0)

    @property
    def is_counted(self) -> bool:
        return not finish(self.harness.stored.ledger.audit()).wrong_things


@pytest.mark.parametrize("version", VERSIONS)
def test_a_thing_is_placed_and_stands_there_again(version: int) -> None:
    scene = Furnished(version)
    x = scene.player.position.x + 4
    spawn = scene.places(x=x)
    (mode,) = scene.client.decoded("WS_MoveObjectMode")
    assert (mode["placement_mode"], mode["model_type"], mode["max_distance"]) == (1, 1581, 500.0)
    assert mode["unknown2"] == (1.0 if version < 1096 else [1.0, 0.5, 3.0, 0.0, 0.0])
    assert (spawn.position.x, spawn.position.heading) == (pytest.approx(x), 190.0)
    assert TABLE not in scene.bags()
    assert scene.stored() == [(TABLE, pytest.approx(x))]
    scene.comes_again()
    (again,) = scene.standing()
    assert again.position.x == pytest.approx(x)
    assert again.position.heading == 190.0
    assert scene.is_counted
    assert scene.is_right


def test_the_owner_of_a_placed_thing_is_the_house() -> None:
    scene = Furnished()
    scene.places()
    owner = Owner(OwnerKind.HOUSE, scene.house.id)
    found = finish(scene.harness.stored.things.of([owner]))
    assert [one.item_id for one in found[owner]] == [TABLE]


def test_one_of_a_stack_is_placed() -> None:
    scene = Furnished()
    scene.gets(TABLE)
    (number,) = scene.gets(TABLE)
    scene.begins(number)
    scene.puts(scene.player.position.x)
    assert len(scene.standing()) == 1
    (left,) = scene.player.holdings.inventory.of_kind(TABLE)
    assert (left.id, left.count) == (number, 1)
    assert scene.is_counted


def test_a_placed_thing_is_moved() -> None:
    scene = Furnished()
    spawn = scene.places()
    index = scene.player.index_of(spawn)
    assert index is not None
    scene.player.set_target(spawn)
    assert scene.client.types("/move_item") == []
    assert scene.client.decoded("WS_MoveObjectMode")[-1]["spawn_id"] == index
    x = scene.player.position.x - 7
    scene.puts(x, index=index, heading=350.0)
    assert (spawn.position.x, spawn.position.heading) == (pytest.approx(x), 170.0)
    assert scene.stored() == [(TABLE, pytest.approx(x))]


def test_a_thing_is_picked_up_by_target_or_number() -> None:
    scene = Furnished()
    spawn = scene.places()
    scene.player.set_target(spawn)
    assert scene.client.types("/pickup") == []
    assert (scene.standing(), scene.stored(), scene.bags()) == ([], [], [TABLE])
    (thing,) = scene.player.holdings.inventory.of_kind(TABLE)
    scene.begins(thing.id)
    scene.puts(scene.player.position.x)
    assert scene.client.types(f"/pickup {thing.id}") == []
    assert scene.bags() == [TABLE]
    assert scene.is_counted
    scene.comes_again()
    assert scene.standing() == []


def test_what_was_picked_up_joins_its_stack() -> None:
    scene = Furnished()
    scene.places()
    scene.gets(TABLE)
    (placed,) = finish(scene.harness.stored.houses.things(scene.house.id))
    scene.client.types(f"/pickup {placed[0].id}")
    (held,) = scene.player.holdings.inventory.of_kind(TABLE)
    assert held.count == 2
    assert (scene.stored(), scene.is_counted) == ([], True)


def test_what_a_player_does_not_place_stays_with_it() -> None:
    scene = Furnished()
    (number,) = scene.gets(TABLE)
    scene.begins(number)
    assert len(scene.standing()) == 1
    scene.client.say("OP_CancelMoveObjectModeMsg", bytes(4))
    scene.harness.run(0.5)
    assert (scene.standing(), scene.bags()) == ([], [TABLE])
    scene.begins(number)
    scene.client.say("OP_ExitHouseMsg")
    scene.harness.run(0.2)
    house = scene.player.zone
    scene.arrives(scene.player)
    assert [one for one in house if one.name == "a table"] == []
    assert scene.bags() == [TABLE]


@pytest.mark.parametrize("how", ["again", "destroyed", "lost", "quit"])
def test_what_happens_while_the_store_is_asked_leaves_no_other_spawn(
    monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """A spawn that nobody holds would stand in the house until its zone ends."""
    scene = Furnished()
    (number,) = scene.gets(TABLE)
    find, player, asked = scene.housing.find, scene.player, list[int]()

    async def late(*values: Any) -> Any:
        asked.append(1)
        if len(asked) == 1:
            if how == "again":
                scene.client.types(f"/place_house_item {number}")
            elif how == "destroyed":
                scene.client.types("/inventory destroy 0")
            elif how == "lost":
                scene.harness.departures.link_lost(player, how, scene.harness.now)
            else:
                scene.harness.departures.leave(player, how, scene.harness.now)
        return await find(*values)

    zone = player.zone
    monkeypatch.setattr(scene.housing, "find", late)
    finish(scene.harness.parts.furniture.place(player, number))
    standing = [one for one in zone if one.name == "a table"]
    assert len(standing) == (1 if how == "again" else 0)
    scene.harness.parts.furniture.cancel(player)
    assert [one for one in zone if one.name == "a table"] == []


@pytest.mark.parametrize("x", [float("nan"), float("inf"), 1e30, -600.0])
def test_no_thing_is_put_far_away(x: float) -> None:
    scene = Furnished()
    (number,) = scene.gets(TABLE)
    scene.begins(number)
    scene.puts(scene.player.position.x + x)
    assert (scene.standing(), scene.bags(), scene.stored()) == ([], [TABLE], [])
    scene.begins(number)
    scene.puts(scene.player.position.x, heading=float("inf"))
    assert (scene.standing(), scene.stored()) == ([], [])


def test_what_cannot_be_placed(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Furnished()
    (blank,) = scene.gets(BLANK)
    text = "a blank cannot be placed: nothing says what it looks like."
    assert scene.begins(blank) == [text]
    (sword,) = scene.gets(kinds.SWORD)
    assert scene.begins(sword) == []
    assert scene.begins(999) == []
    scene.places(STATUE)
    (second,) = scene.gets(STATUE)
    assert scene.begins(second) == ["Item a statue is house lore and you cannot place another."]
    monkeypatch.setattr(furniture, "MOST_PLACED", 1)
    (table,) = scene.gets(TABLE)
    assert scene.begins(table) == ["There are too many things in this house."]
    assert scene.client.decoded("WS_MoveObjectMode")[1:] == []


def test_the_limits_of_a_house_hold_when_a_thing_is_put(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two players may begin to place what only one of them can put."""
    scene = Guests(AccessLevel.TRUSTEE)
    (mine,) = scene.gets(STATUE)
    scene.harness.console(f"giveitem Borvik {STATUE}")
    (theirs,) = scene.guest.holdings.inventory.of_kind(STATUE)
    scene.begins(mine)
    scene.other.types(f"/place_house_item {theirs.id}")
    scene.harness.run(1.0)
    scene.puts(scene.player.position.x)
    scene.puts(scene.player.position.x, client=scene.other)
    text = "Item a statue is house lore and you cannot place another."
    assert scene.other.decoded("WS_DisplayText")[-1]["text"] == text
    assert len(scene.standing(STATUE)) == 1
    assert scene.guest.holdings.inventory.of_kind(STATUE) == [theirs]
    monkeypatch.setattr(furniture, "MOST_PLACED", 3)
    tables = scene.gets(TABLE, CHAIR)
    scene.begins(tables[0])
    waiting: list[Any] = []
    monkeypatch.setattr(scene.harness, "start", waiting.append)
    scene.puts(scene.player.position.x)
    scene.puts(scene.player.position.x)
    for work in waiting:
        finish(work)
    assert len(scene.standing()) == 2, "a second message of the client puts nothing"
    assert scene.is_counted


def test_a_house_whose_things_are_not_read_takes_no_more() -> None:
    """Its limits are not known; they are read again when somebody places something."""
    scene = Furnished()
    scene.places(STATUE)
    (second,) = scene.gets(STATUE)
    things, furnished = scene.housing.store.things, scene.harness.parts.furniture
    furnished.ended(scene.player.zone)

    async def away(house_id: int) -> Any:
        raise StoreError(f"the database does not answer about {house_id}")

    scene.housing.store.things = away  # type: ignore[method-assign]
    assert scene.begins(second) == ["This cannot be done now; try again."]
    scene.housing.store.things = things  # type: ignore[method-assign]
    assert scene.begins(second) == ["Item a statue is house lore and you cannot place another."]


def test_what_belongs_to_one_player_changes_no_hands_by_a_house() -> None:
    scene = Guests(AccessLevel.TRUSTEE)
    text = "a portrait belongs to one player: only the owner of this house does that with it."
    portrait = scene.places(PORTRAIT)
    scene.guest.set_target(portrait)
    assert scene.other.types("/pickup") == [text]
    assert scene.standing(PORTRAIT) == [portrait]
    scene.harness.console(f"giveitem Borvik {PORTRAIT}")
    (theirs,) = scene.guest.holdings.inventory.of_kind(PORTRAIT)
    assert scene.other.types(f"/place_house_item {theirs.id}") == [text]
    scene.player.set_target(portrait)
    scene.client.types("/pickup")
    assert PORTRAIT in scene.bags()


def test_who_has_the_only_one_that_it_may_have_picks_up_no_second() -> None:
    scene = Furnished()
    first = scene.places(RELIC)
    (second,) = scene.gets(RELIC)
    scene.player.set_target(first)
    assert scene.client.types("/pickup") != []
    assert scene.standing(RELIC) == [first]
    assert [one.id for one in scene.player.holdings.inventory.of_kind(RELIC)] == [second]


def test_outside_of_a_house_nothing_is_placed() -> None:
    scene = Furnished()
    scene.client.say("OP_ExitHouseMsg")
    scene.harness.run(0.2)
    scene.arrives(scene.player)
    (number,) = scene.gets(TABLE)
    assert scene.begins(number) == ["This is not your home!"]
    scene.puts(scene.player.position.x)
    assert scene.bags() == [TABLE]


class Guests(Furnished):
    """Another player in the house."""

    def __init__(self, level: AccessLevel) -> None:
        super().__init__()
        self.spawn = self.places()
        store = self.housing.store
        self.harness.stored.is_used = True
        self.harness.character(6, name="Borvik")
        finish(self.harness.stored.houses.owned(6))
        assert finish(store.set_access(self.house.id, 6, level))
        row = self.harness.store.rows[6]
        self.harness.store.rows[6] = replace(
            row, zone_id=self.player.zone.zone_id, place=self.player.position,
            travels=self.player.character.travels,
        )  # fmt: skip
        self.other: Client = self.harness.stand(6)
        self.harness.run(1.0)

    @property
    def guest(self) -> Player:
        assert self.other.player is not None
        return self.other.player


@pytest.mark.parametrize("level", [AccessLevel.VISITOR, AccessLevel.FRIEND])
def test_a_guest_changes_nothing(level: AccessLevel) -> None:
    scene = Guests(level)
    assert scene.guest.zone is scene.player.zone
    scene.guest.set_target(scene.spawn)
    for line in ("/pickup", "/move_item"):
        assert scene.other.types(line) == ["This is not your home!"]
    assert scene.standing() == [scene.spawn]


def test_a_trustee_picks_up_and_two_get_it_once() -> None:
    scene = Guests(AccessLevel.TRUSTEE)
    waiting: list[Any] = []
    scene.guest.set_target(scene.spawn)
    scene.player.set_target(scene.spawn)
    scene.harness.start = waiting.append
    one = scene.harness.parts.furniture.pick_up(scene.guest, None)
    other = scene.harness.parts.furniture.pick_up(scene.player, None)
    finish(one)
    finish(other)
    held = [
        len(who.holdings.inventory.of_kind(TABLE)) for who in (scene.guest, scene.player)
    ]  # fmt: skip
    assert held == [1, 0]
    assert scene.is_counted


def test_a_refused_pick_up_leaves_the_thing_in_the_house() -> None:
    scene = Furnished()
    spawn = scene.places()
    scene.player.set_target(spawn)
    scene.harness.store.broken = True
    scene.client.types("/pickup")
    scene.harness.store.broken = False
    assert scene.standing() == [spawn]
    assert scene.bags() == []
    scene.client.types("/pickup")
    assert scene.bags() == [TABLE]


def test_a_thing_of_an_unknown_kind_stays_in_the_store() -> None:
    scene = Furnished()
    scene.places()
    scene.harness.parts.items.kinds = kinds.item_kinds()
    scene.comes_again()
    assert [one for one in scene.player.zone if one.name == "a table"] == []
    assert len(scene.stored()) == 1
