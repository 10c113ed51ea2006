"""Creations from the window to the product, what breaks them off, and what is stored.

Source of messages, texts and numbers: items-546-deal, items-561-deal, items-1208-deal and
items-60114-deal; ../shared/spec/eq2-items.md 15. That a recipe takes what it says, and not one of
each, is R41 there.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

import pytest

from emu.content.knowledge import Component, Product
from emu.errors import StoreError
from emu.items.held import Where
from emu.ledger import Owner, OwnerKind, Part, Reason
from emu.model import KnownSkill
from emu.rules.crafting import CraftChange, CraftEvent, Round, RoundEnd
from emu.spells.kinds import SpellBook, SpellKind
from emu.versions import LAST_OLD_CLIENT
from emu.world.actors.sheet import SpellMarks
from emu.world.crafting import creating
from emu.world.crafting.creation_windows import SHOW, creation_fields
from emu.world.events import Cast
from emu.world.item_events import Crafted
from emu.world.items.exchanges import Act
from tests.support.coroutines import finish
from tests.support.world import item_kinds as kinds
from tests.support.world.craft_scenes import (
    BUCKLE,
    COAL,
    CRAFT_ROWS,
    METALWORKING,
    ORE,
    RECIPE,
    SLAG,
    STRAP,
    CraftScene,
    buckle,
    rows,
    texts,
)
from tests.support.world.trade_scenes import VERSIONS, held, player_of
from tests.support.world.worlds import Client

UPDATE = "WS_UpdateCreateItem"
STOPPED = "OP_StopItemCreationMsg"


def scene_of(version: int = 546, **values: Any) -> CraftScene:
    """A player who knows the recipe, at a forge, with the components."""
    scene = CraftScene(version, **values)
    scene.learns()
    scene.device()
    scene.gets(3, 9, 9)
    # The highest value of its level, so that no round raises it.
    skill = KnownSkill(METALWORKING, 5, 5)
    scene.harness.parts.skills.change_skills(player_of(scene.one), [skill], is_shown=False)
    return scene


def breaks(client: Client) -> None:
    """Let the connection of a client break."""
    harness = client.harness
    harness.service.closed(client.player, client, "the test cuts it", harness.now)


def opens(scene: CraftScene, number: int = RECIPE) -> list[str]:
    return scene.one.types(f"/createfromrecipe {number}")


def starts(scene: CraftScene, **changes: int) -> None:
    opens(scene)
    scene.begins(**changes)


def stops(scene: CraftScene) -> None:
    scene.one.say("OP_StopItemCreationMsg", b"")


def plays(scene: CraftScene, *rounds: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the next rounds change durability and progress so, and the others nothing."""
    left = list(rounds)

    def play(durability: int, progress: int, _chance: object, bonus: Any) -> Round:
        change = CraftChange(*left.pop(0)) if left else CraftChange()
        change = change.plus(bonus.change)
        return Round(
            RoundEnd.SUCCESS, change, durability + change.durability, progress + change.progress
        )

    monkeypatch.setattr(creating, "play_round", play)


def stored(scene: CraftScene) -> dict[int, int]:
    """What the store has of the player's things, by kind."""
    mine = Owner.character(player_of(scene.one).id)
    found: dict[int, int] = {}
    for one in finish(scene.harness.stored.things.of([mine])).get(mine, []):
        found[one.item_id] = found.get(one.item_id, 0) + one.count
    return found


# -- windows --------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS)
def test_the_device_opens_the_book(version: int) -> None:
    scene = scene_of(version)
    one = scene.one
    before = len(one.log)
    assert one.types("/create") == []
    (shown,) = rows(one, "WS_ShowRecipeBook", before)
    assert shown["device"] == "Forge"
    if version > LAST_OLD_CLIENT:
        assert (shown["num_devices"], shown["device_mask"]) == (7, 2)
    player_of(one).set_target(None)
    assert one.types("/create") == ["You do not have a tradeskill device targeted"]


def test_the_verb_of_a_device_opens_the_book() -> None:
    scene = CraftScene()
    device = scene.device()
    before = len(scene.one.log)
    scene.uses(scene.one, device, seconds=1.0)
    assert [row["device"] for row in rows(scene.one, "WS_ShowRecipeBook", before)] == ["Forge"]


@pytest.mark.parametrize("version", VERSIONS)
def test_refusals_of_the_window(version: int) -> None:
    scene = scene_of(version)
    before = len(scene.one.log)
    assert opens(scene, 4_000_000) == ["You do not have Unknown (0) in your recipe book."]
    assert opens(scene, 0) == ["You do not have Unknown (0) in your recipe book."]
    assert opens(scene, -1) == ["You do not have Unknown (0) in your recipe book."]
    player_of(scene.one).set_target(None)
    assert opens(scene) == ["You must be at a Forge in order to craft this recipe"]
    scene.device(7, "Stove & Keg")
    assert opens(scene) == ["You must be at a Forge in order to craft this recipe"]
    scene.device(away=30.0)
    assert opens(scene) == ["You must be at a Forge in order to craft this recipe"]
    assert rows(scene.one, "WS_CreateFromRecipe", before) == []


def test_a_recipe_whose_product_nothing_describes_is_not_made() -> None:
    scene = CraftScene()
    scene.learns(buckle(phases=(Product(4711, 1, 0, 0),) * 5))
    scene.device()
    assert opens(scene) == ["Nobody knows what this recipe makes."]


# -- to the end -----------------------------------------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS)
def test_a_creation_to_its_end(version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = scene_of(version)
    one = scene.one
    got: list[Crafted] = []
    scene.harness.world.events.subscribe(Crafted, got.append)
    plays(scene, *[(-10, 100)] * 10, monkeypatch=monkeypatch)
    starts(scene)
    (window,) = [body for name, body in one.log if name == "OP_ShowItemCreationProcessUIMsg"]
    kind_of = scene.harness.parts.items.kinds.get
    fields = creation_fields(version, buckle(), kind_of)
    assert window == one.dialect.encode_known(SHOW, fields)
    before = len(one.log)
    scene.harness.run(60.0)
    updates = rows(one, UPDATE, before)
    assert [row["total_progress"] for row in updates] == [*range(100, 1001, 100)]
    assert [row["progress_level"] for row in updates] == [0, 0, 0, 1, 1, 2, 2, 3, 3, 4]
    assert sorted(held(one)) == [(ORE, 2), (COAL, 7), (STRAP, 7), (BUCKLE, 2), (SLAG, 1)]
    read = texts(one, before)
    assert [line.split("\\")[0] for line in read if line.startswith("You ")] == [
        "You created ", "You received ", "You gain 33 Tradeskill XP!",
    ]  # fmt: skip
    assert read[1].endswith("as a byproduct.")
    names = [name for name, _ in one.log[before:]]
    assert names.index(STOPPED) < names.index("OP_UpdateInventoryMsg")
    assert rows(one, "WS_CannedEmote", before)[-1]["anim_type"] == 2441
    assert [(event.recipe, event.kind.id, event.count) for event in got] == [(RECIPE, BUCKLE, 2)]
    assert player_of(one).character.tradeskill_experience == 33
    (made,) = player_of(one).holdings.inventory.of_kind(BUCKLE)
    assert made.creator == player_of(one).character.name
    assert stored(scene) == {ORE: 2, COAL: 7, STRAP: 7, BUCKLE: 2, SLAG: 1}
    assert scene.is_right()


def test_the_recorded_rounds_come_after_half_a_second_and_every_four() -> None:
    scene = scene_of()
    starts(scene)
    before = len(scene.one.log)
    for seconds, count in ((0.4, 0), (0.2, 1), (3.7, 1), (0.3, 2), (3.8, 2), (0.3, 3)):
        scene.harness.run(seconds)
        assert len(rows(scene.one, UPDATE, before)) == count


@pytest.mark.parametrize("version", VERSIONS)
def test_giving_up_early_makes_slag(version: int) -> None:
    """Source: the first creation of items-*-deal, which ended after two rounds."""
    scene = scene_of(version)
    starts(scene)
    before = len(scene.one.log)
    locked = player_of(scene.one).holdings.inventory.locked
    assert len(locked) == 3
    scene.harness.run(5.0)
    stops(scene)
    assert sorted(held(scene.one)) == sorted([(ORE, 2), (COAL, 7), (STRAP, 7), (SLAG, 1)])
    link = "Cooling Slag:Cooling Slag" if version <= LAST_OLD_CLIENT else "0:Cooling Slag"
    assert texts(scene.one, before) == [f"You created \\aITEM {SLAG} {link}\\/a."]
    assert not player_of(scene.one).holdings.inventory.locked
    assert scene.is_right()


@pytest.mark.parametrize(
    ("durability", "progress", "product", "points"),
    [
        (1000, 399, (SLAG, 1), 0), (1000, 400, (SLAG, 2), 18), (1000, 600, (BUCKLE, 1), 23),
        (150, 900, (BUCKLE, 1), 23), (700, 1000, (BUCKLE, 1), 28), (800, 1000, (BUCKLE, 2), 33),
    ],
)  # fmt: skip
def test_phases_by_durability_and_progress(
    durability: int,
    progress: int,
    product: tuple[int, int],
    points: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = scene_of()
    plays(scene, (durability - 1000, progress), monkeypatch=monkeypatch)
    starts(scene)
    scene.harness.run(1.0)
    stops(scene)
    assert product in held(scene.one)
    assert player_of(scene.one).character.tradeskill_experience == points


def test_no_durability_ends_a_creation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Source: ../shared/spec/eq2-items.md 15: "Durability 0 does not end it in C++; it should"."""
    scene = scene_of()
    plays(scene, (-1000, 450), monkeypatch=monkeypatch)
    starts(scene)
    scene.harness.run(1.0)
    assert (SLAG, 2) in held(scene.one)


def test_experience_makes_levels_and_skills(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = scene_of()
    one = scene.one
    scene.harness.parts.levels.needed = {2: 50, 3: 60}
    plays(scene, (0, 1000), (0, 1000), monkeypatch=monkeypatch)
    starts(scene)
    scene.harness.run(1.0)
    assert player_of(one).character.tradeskill_level == 1
    before = len(one.log)
    starts(scene)
    scene.harness.run(1.0)
    character = player_of(one).character
    assert (character.tradeskill_level, character.tradeskill_experience) == (2, 16)
    assert character.tradeskill_needed == 60
    (level,) = rows(one, "WS_LevelChanged", before)
    assert (level["old_level"], level["new_level"], level["type"]) == (1, 2, 1)
    (most,) = [one.most for one in character.skills if one.id == METALWORKING]
    assert most == 10


# -- components -----------------------------------------------------------------------------------


def test_components_are_used_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Source: R41 of ../shared/spec/eq2-items.md 18, with other numbers."""
    scene = CraftScene()
    recipe = buckle(
        primary=Component((ORE,), 3, "Ore"), secondary=(
            Component((STRAP,), 4, "Strap"), Component((STRAP, COAL), 2, "Strap"),
        ), fuel=Component((COAL,), 5, "Coal"),
    )  # fmt: skip
    scene.learns(recipe)
    scene.device()
    scene.gets(4, 7, 9)
    plays(scene, (0, 1000), monkeypatch=monkeypatch)
    starts(scene, count=200)
    scene.harness.run(1.0)
    found = dict(held(scene.one))
    assert {item: found.get(item, 0) for item in (ORE, STRAP, COAL)} == {ORE: 1, STRAP: 1, COAL: 4}
    assert scene.is_right()


def test_several_stacks_make_one_component() -> None:
    scene = CraftScene()
    scene.learns(buckle(primary=Component((ORE,), 25, "Ore")))
    scene.device()
    scene.gets(20, 2, 2)
    scene.gets(10, 0, 0)
    starts(scene)
    scene.harness.run(1.0)
    stops(scene)
    assert sorted(held(scene.one)) == [(ORE, 5), (SLAG, 1)]
    assert scene.is_right()


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_missing_is_said_and_nothing_is_taken(version: int) -> None:
    scene = CraftScene(version)
    scene.learns()
    scene.device()
    scene.gets(1, 1, 2)
    before = len(scene.one.log)
    starts(scene)
    assert texts(scene.one, before) == ["You do not have the components of this recipe."]
    assert len(rows(scene.one, "WS_CreateFromRecipe", before)) == 2  # shown again
    assert rows(scene.one, "WS_ShowItemCreation", before) == []
    scene.harness.run(5.0)
    assert sorted(held(scene.one)) == [(ORE, 1), (COAL, 2), (STRAP, 1)]


@pytest.mark.parametrize("name", ["ore", "strap", "coal"])
def test_wrong_ids_change_nothing(name: str) -> None:
    scene = scene_of()
    scene.one.types(f"/summonitem {kinds.PEBBLE}")
    (pebble,) = player_of(scene.one).holdings.inventory.of_kind(kinds.PEBBLE)
    (strap,) = player_of(scene.one).holdings.inventory.of_kind(STRAP)
    wrong = [1, 0xFFFFFFFF, pebble.id]
    for number in wrong if name == "strap" else [*wrong, strap.id]:
        starts(scene, **{name: number})
        assert not player_of(scene.one).holdings.inventory.locked
    before = sorted(held(scene.one))
    scene.harness.run(5.0)
    assert sorted(held(scene.one)) == before
    assert not player_of(scene.one).holdings.inventory.locked


def test_malformed_messages_change_nothing() -> None:
    scene = scene_of()
    opens(scene)
    for body in (b"", b"\1", b"\xff" * 40):
        scene.one.say("OP_BeginItemCreationMsg", body)
        scene.one.say("OP_RequestRecipeDetailsMsg", body)
    assert not player_of(scene.one).holdings.inventory.locked


def test_locked_components_stay_where_they_are() -> None:
    scene = scene_of()
    starts(scene)
    before = sorted(held(scene.one))
    for place in range(3):
        scene.one.types(f"/inventory destroy {place}")
        scene.one.types(f"/inventory move {place} 4 0 1")
    assert sorted(held(scene.one)) == before


# -- double answers, moving away, leaving ---------------------------------------------------------


def test_double_answers() -> None:
    scene = scene_of()
    scene.begins()  # without a window
    assert not player_of(scene.one).holdings.inventory.locked
    starts(scene)
    before = len(scene.one.log)
    scene.begins()
    assert opens(scene) == []  # while something is made
    assert rows(scene.one, "WS_ShowItemCreation", before) == []
    stops(scene)
    stops(scene)
    assert [name for name, _ in scene.one.log[before:]].count(STOPPED) == 1
    assert dict(held(scene.one))[SLAG] == 1
    assert opens(scene, 0) == []
    assert rows(scene.one, "WS_CreateFromRecipe", before)[-1]["recipe_name"] == "Plain Belt Buckle"
    assert scene.is_right()


def test_who_moves_away_ends_its_creation() -> None:
    scene = scene_of()
    starts(scene)
    scene.harness.run(1.0)
    before = len(scene.one.log)
    scene.goes(scene.one, 50.0)
    scene.harness.run(5.0)
    assert rows(scene.one, UPDATE, before) == []
    assert [name for name, _ in scene.one.log[before:]].count(STOPPED) == 1
    assert dict(held(scene.one)) == {ORE: 2, COAL: 7, STRAP: 7, SLAG: 1}


def test_a_device_that_goes_ends_the_creation() -> None:
    scene = scene_of()
    starts(scene)
    player = player_of(scene.one)
    assert player.target is not None
    player.zone.remove(player.target, scene.harness.now)
    scene.harness.run(5.0)
    assert (SLAG, 1) in held(scene.one)


def test_a_link_death_costs_nothing() -> None:
    scene = scene_of()
    starts(scene)
    scene.harness.run(1.0)
    player = player_of(scene.one)
    breaks(scene.one)
    scene.harness.run(5.0)
    assert not player.holdings.inventory.locked
    counts = {item: player.holdings.inventory.count_of(item) for item in (ORE, COAL, STRAP, SLAG)}
    assert counts == {ORE: 3, COAL: 9, STRAP: 9, SLAG: 0}
    assert scene.is_right()


def test_a_zone_change_in_the_middle_costs_nothing() -> None:
    scene = scene_of()
    starts(scene)
    scene.harness.run(1.0)
    player = player_of(scene.one)
    scene.one.types("/zone Antonica")
    scene.harness.run(1.0)
    assert not player.holdings.inventory.locked
    before = len(scene.one.log)
    scene.harness.run(10.0)
    assert rows(scene.one, UPDATE, before) == []
    counts = {item: player.holdings.inventory.count_of(item) for item in (ORE, COAL, STRAP, SLAG)}
    assert counts == {ORE: 3, COAL: 9, STRAP: 9, SLAG: 0}
    assert scene.is_right()


def test_who_leaves_the_world_has_lost_nothing() -> None:
    scene = scene_of()
    starts(scene)
    scene.harness.run(1.0)
    scene.one.types("/quit")
    scene.harness.run(60.0)
    again = scene.enter(1)
    assert sorted(held(again)) == [(ORE, 3), (COAL, 9), (STRAP, 9)]
    assert not player_of(again).holdings.inventory.locked
    assert len(scene.harness.parts.crafting.creating._rounds) == 0


# -- full bags, lore, the store -------------------------------------------------------------------


def test_what_finds_no_place_waits() -> None:
    scene = scene_of()
    for _ in range(3):
        scene.one.types(f"/summonitem {kinds.MARBLE}")
    starts(scene)
    scene.harness.run(1.0)
    stops(scene)
    assert held(scene.one, Where.OVERFLOW) == [(SLAG, 1)]
    assert scene.is_right()


def test_a_refused_product_takes_nothing() -> None:
    scene = CraftScene()
    lore = CRAFT_ROWS[5].replace("stack = 20", "lore = 1")
    scene.teaches(rows=(*CRAFT_ROWS[:5], lore))
    scene.one.types("/summonitem 910035")
    scene.scribes(scene.one)
    scene.device()
    scene.gets()
    scene.one.types(f"/summonitem {SLAG}")
    starts(scene)
    before = len(scene.one.log)
    stops(scene)
    assert texts(scene.one, before) == ["You cannot obtain Cooling Slag due to lore conflict."]
    assert sorted(held(scene.one)) == [(ORE, 1), (COAL, 2), (STRAP, 2), (SLAG, 1)]
    assert not player_of(scene.one).holdings.inventory.locked


def test_a_store_that_fails_takes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = scene_of()
    starts(scene)
    before = sorted(held(scene.one))

    async def fails(*_args: object, **_values: object) -> None:
        raise StoreError("the database is gone")

    monkeypatch.setattr(scene.harness.parts.ledger, "settle", fails)
    stops(scene)
    assert sorted(held(scene.one)) == before
    assert not player_of(scene.one).holdings.inventory.locked
    monkeypatch.undo()
    starts(scene)
    stops(scene)
    assert (SLAG, 1) in held(scene.one)
    assert scene.is_right()


def test_components_are_free_after_a_refused_deal_of_who_left() -> None:
    scene = scene_of()
    scene.gets()
    starts(scene)
    player = player_of(scene.one)
    assert player.holdings.inventory.locked

    async def refuses(_movement: object) -> Any:
        breaks(scene.one)
        scene.harness.run(5.0)
        raise StoreError("the database does not answer")

    part = Part(Owner(OwnerKind.SCRIPT), Owner.character(player.id), 1)
    exchanges = scene.harness.parts.items.exchanges
    with pytest.raises(StoreError):
        finish(exchanges.exchange(Reason.SCRIPT, [player], lambda: Act([part]), refuses))
    assert not player.holdings.inventory.locked


def test_a_zone_change_while_the_product_is_stored() -> None:
    """The transaction was asked for already: the product comes, and the components go."""
    scene = scene_of()
    starts(scene)
    later: list[Coroutine[Any, Any, Any]] = []
    scene.harness.start = later.append
    stops(scene)
    scene.harness.start = finish
    player = player_of(scene.one)
    breaks(scene.one)
    for work in later:
        finish(work)
    counts = {item: player.holdings.inventory.count_of(item) for item in (ORE, COAL, STRAP, SLAG)}
    assert counts == {ORE: 2, COAL: 7, STRAP: 7, SLAG: 1}
    assert scene.is_right()


# -- events and arts ------------------------------------------------------------------------------

SOFT = CraftEvent("Minor Soft Metal", 427)


def test_events_are_answered_by_their_icon(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = scene_of()
    one, player = scene.one, player_of(scene.one)
    scene.events(SOFT)
    monkeypatch.setattr(creating, "brings_event", lambda _chance: True)
    plays(scene, monkeypatch=monkeypatch)
    answer = scene.harness.parts.crafting.creating.answer
    assert not answer(player, 427)
    starts(scene)
    before = len(one.log)
    scene.harness.run(1.0)
    (first,) = rows(one, UPDATE, before)
    assert (first["reaction_name"], first["reaction_icon"]) == ("Minor Soft Metal", 427)
    assert answer(player, 427)
    assert not answer(player, 427)  # once
    scene.harness.run(4.0)
    assert answer(player, 9)
    scene.harness.run(4.0)
    changes = [
        (row["durability_change"], row["progress_change"]) for row in rows(one, UPDATE, before)
    ]
    assert changes == [(0, 0), (50, 50), (-50, -50)]
    assert texts(one, before) == [
        "You successfully countered Minor Soft Metal.", "You failed to counter Minor Soft Metal.",
    ]  # fmt: skip


def test_an_art_answers_the_event_and_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Source of the types: the scripts of arts, ../shared/spec/eq2-real-content.md 6."""
    scene = scene_of()
    one, player = scene.one, player_of(scene.one)
    scene.events(SOFT)
    monkeypatch.setattr(creating, "brings_event", lambda _chance: True)
    seen: list[Any] = []

    def play(durability: int, progress: int, _chance: object, bonus: Any) -> Round:
        seen.append(bonus)
        return Round(RoundEnd.SUCCESS, bonus.change, durability, progress)

    monkeypatch.setattr(creating, "play_round", play)
    known = scene.harness.parts.ports.spell_kinds._known
    known[9003] = SpellKind(9003, "Anneal", icon=427, book=SpellBook.TRADESKILL)
    known[9004] = SpellKind(9004, "Flame", icon=427)
    starts(scene)
    scene.harness.run(1.0)
    marks = player.spawn.sheet.spells = SpellMarks()
    marks.bonuses = {801: 7.0, 802: 9.0, 804: 2.5, 800: 5.0}
    before = len(one.log)
    for spell in (9004, 9003):
        event = Cast(None, zone=player.zone, spawn=player.spawn, spell_id=spell, tier=1)
        scene.harness.world.events.publish(event)
        assert len(texts(one, before)) == int(spell == 9003)
    scene.harness.run(4.0)
    assert [tuple(bonus) for bonus in seen] == [((0, 0), 0.0), ((57, 59), 2.5)]
    assert texts(one, before) == ["You successfully countered Minor Soft Metal."]


def test_critical_rounds_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = scene_of()
    left = [RoundEnd.GREAT_SUCCESS, RoundEnd.GREAT_FAILURE, RoundEnd.FAILURE]

    def play(durability: int, progress: int, *_others: object) -> Round:
        return Round(left.pop(0), CraftChange(), durability, progress)

    monkeypatch.setattr(creating, "play_round", play)
    starts(scene)
    before = len(scene.one.log)
    scene.harness.run(9.0)
    assert texts(scene.one, before) == ["Critical success!", "Critical failure!"]
