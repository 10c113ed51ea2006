"""Learning recipe books, the messages about them, and what is stored.

Source of texts and messages: items-546-deal, items-561-deal, items-1208-deal, items-60114-deal.
"""

from __future__ import annotations

import pytest
from twisted.internet.defer import ensureDeferred

from emu.content.crafts import CraftTables
from emu.ledger import Owner, OwnerKind
from emu.versions import LAST_OLD_CLIENT
from tests.support.coroutines import finish
from tests.support.world.craft_scenes import (
    BOOK,
    BUCKLE,
    CRAFT_ROWS,
    RECIPE,
    CraftScene,
    buckle,
    rows,
    texts,
)
from tests.support.world.trade_scenes import VERSIONS, held, player_of
from tests.support.world.worlds import Client

LEARNED = 'Recipe: "Plain Belt Buckle" put in recipe book.'


def scene_of(version: int = 546, **values: int) -> CraftScene:
    scene = CraftScene(version, **values)
    scene.teaches()
    scene.one.types(f"/summonitem {BOOK}")
    return scene


def learned(client: Client) -> list[int]:
    """The items of the stored books."""
    owner = Owner(OwnerKind.LIBRARY, player_of(client).id)
    found = finish(client.harness.stored.things.of([owner])).get(owner, [])
    return sorted(one.item_id for one in found)


def describes(client: Client, *numbers: int) -> list[int]:
    """Ask for the details of recipes; return the numbers of those that the client is sent."""
    before = len(client.log)
    fields = {
        "num_recipes": len(numbers), "recipes_array": [{"recipe_id": one} for one in numbers],
    }  # fmt: skip
    layout = client.dialect.layout("WS_RequestRecipeDetail")
    client.say("OP_RequestRecipeDetailsMsg", layout.encode(fields))
    found = rows(client, "WS_RecipeDetailList", before)
    return [row["recipe_id"] for message in found for row in message["recipe_array"]]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_book_is_learned_once(version: int) -> None:
    scene = scene_of(version)
    one = scene.one
    before = len(one.log)
    assert scene.scribes(one) == [LEARNED]
    assert (held(one), learned(one)) == ([], [BOOK])
    names = [name for name, _ in one.log[before:]]
    book = "OP_UpdateRecipeBookMsg" if version <= LAST_OLD_CLIENT else "OP_RecipeList"
    has_book = version <= LAST_OLD_CLIENT or version == 60114
    assert names.count(book) == int(has_book)
    if has_book:
        assert names.index("OP_UpdateInventoryMsg") < names.index(book)
    one.types(f"/summonitem {BOOK}")
    assert scene.scribes(one) == ["You have already learned all you can from this item."]
    assert (held(one), learned(one)) == ([(BOOK, 1)], [BOOK])
    assert scene.is_right()


def test_a_level_or_a_class_may_be_missing() -> None:
    scene = CraftScene()
    high = CRAFT_ROWS[0].replace("tradeskill_level = 1", "tradeskill_level = 9")
    scene.teaches(rows=(high, *CRAFT_ROWS[1:]))
    scene.one.types(f"/summonitem {BOOK}")
    assert scene.scribes(scene.one) == [
        "Your tradeskill level is not high enough to scribe this book."
    ]
    other = CRAFT_ROWS[0].replace("tradeskill_level = 1", "tradeskill_classes = 1024")
    scene.teaches(rows=(other, *CRAFT_ROWS[1:]))
    scene.one.types("/inventory destroy 0")
    scene.one.types(f"/summonitem {BOOK}")
    assert scene.scribes(scene.one) == ["Your tradeskill class cannot use this recipe."]
    assert learned(scene.one) == []


@pytest.mark.parametrize("version", [546, 60114])
def test_recipes_are_there_after_coming_back(version: int) -> None:
    scene = scene_of(version)
    scene.scribes(scene.one)
    scene.one.types("/quit")
    scene.harness.run(60.0)
    again = scene.enter(1, version)
    assert list(scene.harness.parts.crafting.books.of(player_of(again))) == [RECIPE]
    assert again.types("/recipes") == [f"{RECIPE} Plain Belt Buckle, level 1, Forge"]
    names = [name for name, _ in again.log]
    assert (
        names.count("OP_UpdateRecipeBookMsg" if version <= LAST_OLD_CLIENT else "OP_RecipeList")
        == 1
    )


def test_who_knows_recipes_comes_in_with_a_client_that_has_no_details_of_them() -> None:
    """Seed 105003 of the simulation: such a client was shown nothing that happened afterwards."""
    scene = scene_of()
    scene.scribes(scene.one)
    scene.one.types("/quit")
    scene.harness.run(60.0)
    again = scene.enter(1, 373)
    assert list(scene.harness.parts.crafting.books.of(player_of(again))) == [RECIPE]
    viewer = player_of(again).viewer
    assert viewer is not None
    assert viewer.is_ready
    assert "OP_SignalMsg refused" not in again.player.client.drops


@pytest.mark.parametrize("version", VERSIONS)
def test_details_are_those_of_known_recipes(version: int) -> None:
    scene = scene_of(version)
    assert describes(scene.one, RECIPE) == []
    scene.scribes(scene.one)
    assert describes(scene.one, RECIPE, 77, RECIPE, 0) == [RECIPE]
    assert describes(scene.one) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_the_window_of_a_recipe(version: int) -> None:
    scene = scene_of(version)
    one = scene.one
    scene.scribes(one)
    struct = "WS_ExamineInfoRequestMsg"
    for number, count in ((RECIPE, 1), (77, 0)):
        before = len(one.log)
        fields = {"type": 5, "unique_id": number if version <= LAST_OLD_CLIENT else 0,
                  "id": 0 if version <= LAST_OLD_CLIENT else number}  # fmt: skip
        layout = one.dialect.layout(struct)
        one.say("OP_ExamineInfoRequestMsg", layout.encode(fields))
        windows = rows(one, "WS_ExamineInfo", before)
        assert len(windows) == count
        if windows:
            shown = windows[0]["recipe"]
            assert (shown["id"], shown["recipe_name"]) == (RECIPE, "Plain Belt Buckle")
            assert shown["device"] == "Forge"
            assert shown["comp_array"][0]["build_comp"] == "Leather Strap"
            assert shown["comp_array"][0]["build_comp_qty"] == 2
            assert shown["product_name"] == "Plain Belt Buckle"


@pytest.mark.parametrize("version", VERSIONS)
def test_the_window_of_a_book_says_whether_it_was_learned(version: int) -> None:
    """eq2-items.md 4.2 and 4.3; recorded of a book that was not (items-*-deal)."""
    scene = scene_of(version)

    def shown() -> int:
        scene.harness.parts.items.send_kind(player_of(scene.one), scene.harness.kinds.get(BOOK))
        item = scene.one.decoded("WS_ExamineInfo")[-1]["item"]
        return int(item["book"]["scribed"])

    assert shown() == 0
    scene.scribes(scene.one)
    assert learned(scene.one) == [BOOK]
    assert shown() == 1


def test_two_books_at_once_are_learned_once() -> None:
    scene = scene_of()
    one = scene.one
    one.types(f"/summonitem {BOOK}")
    first, second = player_of(one).holdings.inventory.of_kind(BOOK)
    scene.harness.start = later = Later()
    one.types(f"/scribe_scroll_item {first.id}")
    one.types(f"/scribe_scroll_item {second.id}")
    scene.harness.start = finish
    for work in later.kept:
        finish(work)
    assert (len(held(one)), learned(one)) == (1, [BOOK])
    assert scene.is_right()


def test_a_book_that_is_forgotten_twice_stays_forgotten() -> None:
    """The second act, which finds no book, brought back what the first one had taken."""
    scene = scene_of()
    one, books = scene.one, scene.harness.parts.crafting.books
    player = player_of(one)
    one.types(f"/summonitem {BOOK}")
    scene.scribes(one)
    finish(player.holdings.gate.pass_through())
    scene.harness.start = ensureDeferred
    assert books.take_book(player, BOOK)
    assert books.take_book(player, BOOK)
    player.holdings.gate.leave()
    scene.harness.start = finish
    assert not books.has_book(player, BOOK)
    assert learned(one) == []
    assert scene.is_right()


def test_a_recipe_that_was_forgotten_meanwhile_is_not_made() -> None:
    """The open window made it once more."""
    scene = CraftScene()
    scene.learns()
    scene.device()
    one = scene.one
    scene.gets()
    one.types(f"/createfromrecipe {RECIPE}")
    scene.harness.parts.crafting.books.take_book(player_of(one), BOOK)
    before = len(one.log)
    scene.begins()
    assert texts(one, before)[-1] == (
        f"You do not have Plain Belt Buckle ({RECIPE}) in your recipe book."
    )
    assert not player_of(one).holdings.inventory.locked


class Later(list[object]):
    """Keeps what the world starts."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[object] = []

    def __call__(self, work: object) -> object:
        self.kept.append(work)
        return None


def test_unknown_numbers_change_nothing() -> None:
    scene = scene_of()
    before = held(scene.one)
    for number in (0, -1, 2**32, 2**70, 999_999):
        assert scene.one.types(f"/scribe_scroll_item {number}") == []
    assert (held(scene.one), learned(scene.one)) == (before, [])


def test_a_book_without_readable_recipes_teaches_nothing() -> None:
    scene = scene_of()
    scene.harness.crafts._books[BOOK] = [77]
    scene.harness.crafts._recipes[77] = None
    assert scene.scribes(scene.one) == ["You have already learned all you can from this item."]
    assert held(scene.one) == [(BOOK, 1)]


def test_several_recipes_of_one_book() -> None:
    scene = CraftScene()
    scene.learns(buckle(5), buckle(6, level=2))
    assert texts(scene.one).count(LEARNED) == 2
    assert scene.one.types("/recipes") == [
        "5 Plain Belt Buckle, level 1, Forge", "6 Plain Belt Buckle, level 2, Forge",
    ]  # fmt: skip
    assert BUCKLE not in dict(held(scene.one))
    assert isinstance(scene.harness.crafts, CraftTables)
