"""Spell books: their records in each version, changes, and spells that are gained."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from emu.items.held import Place, Thing, Where
from emu.items.kinds import ItemKind, Scroll, Sort
from emu.structs.packed import unpack, xor
from emu.world.actors.past import Past
from emu.world.item_events import CraftingChanged, ItemScribed
from emu.world_stream.deltas import BookReader
from tests.support.coroutines import finish
from tests.support.world.spell_scenes import BUFF, HEAL, SMITE, SpellScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

SMITE_ID, HEAL_ID, COURAGE_ID = 110014, 110012, 110002
HIDDEN = '[[spell]]\nid = 9\nname = "Passive"\nbook = 4\n[[spell.tier]]\n'


def books(scene: SpellScene) -> list[dict[str, object]]:
    dialect = scene.client.dialect
    reader = BookReader(dialect.layout("WS_UpdateSpellBook"), dialect.version)
    bodies = scene.payloads("OP_UpdateSpellBookMsg")
    return [reader.read(body) for body in bodies]


# The records of Smite in fight-VERSION-priest-a, the first book after the entry.
@pytest.mark.parametrize("version", [546, 561, 1096, 1208, 60114])
def test_a_record_is_as_recorded(tmp_path: Path, version: int) -> None:
    scene = SpellScene(tmp_path, version, toml=SMITE)
    # Locked until the avatar stands, as in real-entry-*.
    first, unlocked = books(scene)
    record: Any = first["spell_array"][0]  # type: ignore[index]
    assert record["status"] == 169
    record |= unlocked["spell_array[0]"]
    wanted = {
        "spell_id": SMITE_ID, "unique_id": 4294967294, "recast_available": 0, "type": 0,
        "recast_time": 0, "icon": -153, "icon_type": 315, "icon2": 14, "charges": 255,
        "status": 235,
    }  # fmt: skip
    assert {name: record[name] for name in wanted} == wanted


def test_only_changes_are_sent(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=SMITE + HEAL)
    scene.know(HEAL_ID)
    before = len(books(scene))
    scene.spells.books.send(scene.player)
    assert len(books(scene)) == before
    scene.cast(SMITE_ID, scene.creature())
    locked = books(scene)[-1]
    assert [locked[f"spell_array[{at}]"] for at in (0, 1)] == [{"status": 169}] * 2
    scene.run(2.2)
    done = books(scene)[-1]
    assert done["spell_array[1]"] == {"status": 235}
    assert done["spell_array[0]"]["recast_time"] == 30  # type: ignore[index]
    assert "status" not in done["spell_array[0]"]  # type: ignore[operator]
    scene.run(3.1)
    assert books(scene)[-1]["spell_array[0]"]["status"] == 235  # type: ignore[index]


@pytest.mark.parametrize("version", [546, 1208, 60114])
@pytest.mark.parametrize("keeps_rest", [True, False])
def test_a_book_that_shrinks_and_grows_is_read_with_either_base(
    tmp_path: Path, version: int, keeps_rest: bool
) -> None:
    """Recorded are both: the rest of a skill book stays the base, that of things is zeros."""
    scene = SpellScene(tmp_path, version, toml=SMITE + HEAL + BUFF)
    for one in (HEAL_ID, COURAGE_ID):
        scene.know(one)
    for one in (HEAL_ID, COURAGE_ID):
        scene.spells.books.unlearn(scene.player, one)
    scene.know(COURAGE_ID)
    base, layout = b"", scene.client.dialect.layout("WS_UpdateSpellBook")
    found = []
    for body in scene.payloads("OP_UpdateSpellBookMsg"):
        count = int.from_bytes(body[:2], "little")
        size = count * len(layout.encode({"spell_count": 1, "spell_array": [{}]})[6:])
        delta, _ = unpack(body[2:], size, version)
        records = xor(delta, base[:size].ljust(size, b"\0"))
        base = records + (base[size:] if keeps_rest else b"")
        fields = layout.decode(body[:2] + bytes(4) + records)
        found.append([row["spell_id"] for row in fields["spell_array"] if row["spell_id"]])
    assert set(found[-1]) == {SMITE_ID, COURAGE_ID}
    assert {len(one) for one in found} == {1, 2, 3}


def test_a_spell_that_waits_is_marked(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=SMITE + HEAL)
    scene.know(HEAL_ID)
    scene.cast(SMITE_ID, scene.creature())
    scene.cast(HEAL_ID)
    assert books(scene)[-1]["spell_array[1]"] == {"status": 173}
    scene.client.types("clearallqueuedabilities")
    assert books(scene)[-1]["spell_array[1]"] == {"status": 169}


def test_classes_gain_spells_at_their_levels(tmp_path: Path) -> None:
    late = BUFF + "[[spell.class]]\nclass = 11\nlevel = 5\nclassic_level = 2.6\n"
    scene = SpellScene(tmp_path, toml=SMITE + late + HIDDEN)
    assert scene.player.past.spells == {SMITE_ID: 1}
    levels = scene.scripts.levels
    scene.player.character = scene.player.character
    levels.set_level(scene.player, 2, scene.harness.now)
    assert scene.player.past.spells == {SMITE_ID: 1}
    needed = scene.player.character.experience_needed
    levels.gain(scene.player, int(needed * 0.59), scene.harness.now)
    assert 110002 not in scene.player.past.spells
    levels.gain(scene.player, int(needed * 0.1), scene.harness.now)
    assert scene.player.past.spells == {SMITE_ID: 1, 110002: 1}
    gained = scene.client.decoded("WS_SpellGainedMsg")[-1]
    assert (gained["spell_id"], gained["spell_name"]) == (110002, "Courage")


# SpellGained of real-fight-546-QueensColony-fighter at level 3; fight-* has no hidden spell.
GAINED = bytes.fromhex(
    "0481ea2600074b61e8110046696768746572204172636865747970650000010200ffffffffffff"
)
ARCHETYPE = """
[[spell]]
id = 2550401
name = "Fighter Archetype"
book = 4
icon = 2
backdrop = -1
crc = 0xe8614b07
script = "Spells/Archetype.lua"
[[spell.tier]]
[[spell.class]]
class = 1
level = 2
"""


def test_a_hidden_spell_is_announced_as_recorded(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=SMITE + ARCHETYPE, class_=1)
    scene.scripts.levels.set_level(scene.player, 2, scene.harness.now)
    assert scene.payloads("OP_SpellGainedMsg") == [GAINED]


def test_a_new_character_has_its_book_without_a_message_for_each_spell(tmp_path: Path) -> None:
    """As in real-entry-546-QueensColony-fighter-priest-mage and real-entry-1208-start-*."""
    scene = SpellScene(tmp_path, toml=SMITE)
    assert scene.player.past.spells == {SMITE_ID: 1}
    assert scene.payloads("OP_SpellGainedMsg") == []


def test_what_a_character_gains_at_its_entry_is_read_before_it(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=SMITE)
    kinds, books = scene.spells.kinds, scene.spells.books
    kinds.reload(None)
    finish(books.fetch(replace(scene.player.character, past={})))
    assert not kinds.lacks([SMITE_ID])


def test_another_class_gains_its_spells(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=SMITE, class_=0)
    assert scene.player.past.spells == {}
    scene.scripts.levels.set_class(scene.player, 12, scene.harness.now)
    assert scene.player.past.spells == {SMITE_ID: 1}


def test_starting_spells_come_to_new_characters_and_later_at_their_levels(tmp_path: Path) -> None:
    """A new guardian has Call to Arms (real-entry-1208-start-fighter-priest).

    Scouts have Pathfinding from level 4 on, also a commoner that becomes one (eq2-spells.md 2).
    """
    late = BUFF + "[[spell.class]]\nclass = 31\nlevel = 4\n"
    start = f"[[starting_spell]]\nspell = {COURAGE_ID}\nclass = 31\n"
    rest = HEAL + f"[[starting_spell]]\nspell = {HEAL_ID}\n"
    created = SpellScene(tmp_path / "created", toml=late + rest + start, class_=31)
    assert created.player.past.spells == {COURAGE_ID: 1, HEAL_ID: 1}
    changed = SpellScene(tmp_path / "changed", toml=late + rest + start, class_=0)
    assert changed.player.past.spells == {HEAL_ID: 1}
    levels = changed.scripts.levels
    levels.set_class(changed.player, 31, changed.harness.now)
    assert changed.player.past.spells == {HEAL_ID: 1}
    levels.set_level(changed.player, 4, changed.harness.now)
    assert changed.player.past.spells == {HEAL_ID: 1, COURAGE_ID: 1}


def test_books_keep_the_highest_tier(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=SMITE)
    scene.know(SMITE_ID, tier=4)
    assert scene.player.past.spells == {SMITE_ID: 4}
    scene.know(SMITE_ID, tier=2)
    assert scene.player.past.spells == {SMITE_ID: 4}
    assert scene.spells.books.unlearn(scene.player, SMITE_ID)
    assert not scene.spells.books.unlearn(scene.player, SMITE_ID)
    scene.know(SMITE_ID)
    scene.spells.books.clear(scene.player)
    assert scene.player.past.spells == {}


def scroll(scene: SpellScene, spell_id: int, tier: int) -> list[bool]:
    """Ask to learn from a scroll, as `emu.world.subjects.uses` does; return the answers."""
    kind = ItemKind(1, "a scroll", Sort.SCROLL, Scroll(spell_id, tier))
    thing = Thing(1, 1, Place(Where.BAGS, 0, 0))
    event = ItemScribed(scene.player, thing, kind)
    scene.harness.world.events.publish(event)
    return event.answers


@pytest.mark.parametrize(
    ("tiers", "tier"), [((1,), 1), ((2,), 2), ((3, 2), 3), ((0,), 1), ((300,), 255)]
)
def test_a_spell_is_learned_at_its_highest_tier(
    tmp_path: Path, tiers: tuple[int, ...], tier: int
) -> None:
    scene = SpellScene(tmp_path)
    learned = [scene.spells.books.learn(scene.player, 110002, one) for one in tiers]
    assert scene.player.past.spell_tier(110002) == tier
    assert learned == [True, False][: len(tiers)]
    assert not scene.spells.books.learn(scene.player, 4711)


def test_scrolls_teach_higher_tiers_to_those_of_the_class(tmp_path: Path) -> None:
    higher = SMITE.replace("[[spell.class]]", "[[spell.tier]]\ntier = 4\n[[spell.class]]")
    late = BUFF + "[[spell.class]]\nclass = 11\nlevel = 5\n"
    scene = SpellScene(tmp_path, toml=higher + late)
    assert scene.player.past.spells == {SMITE_ID: 1}
    assert scroll(scene, SMITE_ID, 4) == [True]
    assert scene.player.past.spells == {SMITE_ID: 4}
    # Again, a tier that there is not, a spell of a higher level, and none at all.
    refused = [(SMITE_ID, 4), (SMITE_ID, 1), (SMITE_ID, 3), (110002, 1), (77, 1)]
    assert [scroll(scene, *one) for one in refused] == [[]] * 5
    assert scene.player.past.spells == {SMITE_ID: 4}
    scene.scripts.levels.set_class(scene.player, 1, scene.harness.now)
    assert scroll(scene, SMITE_ID, 4) == []


def test_the_spells_of_whoever_enters_are_read_beside_the_things(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=SMITE + HEAL)
    kinds = scene.kinds
    kinds.reload(None)
    assert kinds.lacks(())
    past = Past()
    past.learn(HEAL_ID, 1)
    character = replace(scene.player.character, past=past.text)
    asked: list[object] = []
    books = scene.spells.books

    async def in_thread(call: Callable[[], object]) -> object:
        asked.append(call)
        return call()

    books._in_thread = in_thread
    finish(scene.harness.parts.service.load(character, 546))
    assert not kinds.lacks([HEAL_ID])
    finish(scene.harness.parts.service.load(character, 546))
    assert len(asked) == 1  # nothing is missing any more


# Recorded of a templar (real-entry-1208-start-fighter-priest): it does not have the shaman's spell
# 180013; spell 130106 is not active in that content.
def test_new_hotkeys_of_spells_have_the_recorded_icons(tmp_path: Path) -> None:
    toml = "".join(
        f'[[spell]]\nid = {number}\nname = "Spell"\nicon = {icon}\nbackdrop = {backdrop}\n'
        f"is_active = {is_active}\n[[spell.tier]]\n"
        for number, icon, backdrop, is_active in (
            (8308, 303, 317, "true"), (130106, 158, 316, "false"), (130027, 152, 315, "true"),
            (180013, 8, 315, "true"),
        )
    )  # fmt: skip
    harness = SpellScene(tmp_path, toml=toml).harness
    client = harness.enter(77, 1208, class_=13)
    keys = {key["slot"]: key for key in client.decoded("WS_QuickBarInit")[0]["ability_array"]}
    assert {
        keys[slot]["id"]: (keys[slot]["icon"], keys[slot]["icon_type"], keys[slot]["unique_id"])
        for slot in (0, 1, 2, 3, 11, 12)
    } == {
        0: (0, 0, 0), 130106: (0, 0, 0), 130027: (152, 315, 1), 180013: (8, 315, 1),
        8308: (303, 317, 1), 8057: (0, 0, 0),
    }  # fmt: skip


@pytest.mark.parametrize("version", [546, 561, 1096, 1208, 60114])
def test_the_window_of_a_scroll_has_its_spell(tmp_path: Path, version: int) -> None:
    """As in real-things-546-use-scribe; one of an unknown spell as in real-examine-546-20-items."""
    scene = SpellScene(tmp_path, version, toml=SMITE)
    shown = []
    for spell in (SMITE_ID, 99):
        kind = ItemKind(7, "a scroll", Sort.SCROLL, Scroll(spell, 1))
        scene.harness.parts.items.send_kind(scene.player, kind)
        shown.append(scene.client.decoded("WS_ExamineInfo")[-1]["item"])
    known, unknown = shown
    assert (known["spell"]["id"], known["spell"]["name"]) == (SMITE_ID, "Smite")
    assert (known["spell"]["display_spell_tier"], known["info"]["footer_type"]) == (0, 0)
    assert (unknown["spell"]["id"], unknown["spell"]["name"]) == (0, "")
    assert unknown["info"]["footer_type"] == 3


LEARN, NOTHING_TO_LEARN = 0x23, 0x83
"""The menus of scrolls: recorded in real-things-546-use-scribe, and in items-*-carry."""


def carries(scene: SpellScene, *scrolls: tuple[int, int]) -> None:
    """Give the player scrolls of these spells and tiers."""
    for number, scroll in enumerate(scrolls, 7):
        kind = ItemKind(number, "a scroll", Sort.SCROLL, Scroll(*scroll))
        new = scene.harness.parts.items.new_number
        scene.player.holdings.inventory.add_things(kind, 1, new)
    scene.harness.parts.items.changed(scene.player)


def menus(scene: SpellScene) -> list[int]:
    """Return the menus of all things as the client has them."""
    dialect = scene.client.dialect
    reader = BookReader(dialect.layout("WS_UpdateInventory"), dialect.version)
    rows: dict[int, int] = {}
    for body in scene.payloads("OP_UpdateInventoryMsg"):
        if body[-1] == 0:  # what is carried
            read: Any = reader.read(body)
            for at, row in enumerate(read.get("item_array", ())):
                rows[at] = row.get("menu_type", rows.get(at))
            changed = {one: read[one] for one in read if one.startswith("item_array[")}
            for name, row in changed.items():
                at = int(name[len("item_array[") : -1])
                rows[at] = row.get("menu_type", rows.get(at))
    return [rows[at] for at in sorted(rows)]


@pytest.mark.parametrize("version", [546, 1208, 60114])
def test_a_scroll_says_whether_its_holder_can_learn_from_it(tmp_path: Path, version: int) -> None:
    """eq2-items.md 3.5: 32 may be scribed, 128 may not."""
    higher = SMITE.replace("[[spell.class]]", "[[spell.tier]]\ntier = 4\n[[spell.class]]")
    late = BUFF + "[[spell.tier]]\ntier = 2\n[[spell.class]]\nclass = 11\nlevel = 5\n"
    scene = SpellScene(tmp_path, version, toml=higher + late)
    carries(scene, (SMITE_ID, 1), (SMITE_ID, 4), (COURAGE_ID, 2), (77, 1))
    nothing = NOTHING_TO_LEARN
    assert menus(scene) == [nothing, LEARN, nothing, nothing]
    before = len(scene.payloads("OP_UpdateInventoryMsg"))
    scene.scripts.levels.set_level(scene.player, 2, scene.harness.now)
    assert len(scene.payloads("OP_UpdateInventoryMsg")) == before
    scene.scripts.levels.set_level(scene.player, 5, scene.harness.now)
    assert len(scene.payloads("OP_UpdateInventoryMsg")) == before + 1
    assert menus(scene) == [nothing, LEARN, LEARN, nothing]
    scene.scripts.levels.set_class(scene.player, 1, scene.harness.now)
    assert menus(scene) == [nothing] * 4


@pytest.mark.parametrize("version", [546, 1208, 60114])
def test_the_window_of_a_scroll_says_whether_its_spell_is_known(
    tmp_path: Path, version: int
) -> None:
    """Recorded in items-*-carry: a scroll of a known spell has 1."""
    higher = SMITE.replace("[[spell.class]]", "[[spell.tier]]\ntier = 4\n[[spell.class]]")
    scene = SpellScene(tmp_path, version, toml=higher)

    def shown(tier: int) -> tuple[int, int]:
        kind = ItemKind(7, "a scroll", Sort.SCROLL, Scroll(SMITE_ID, tier))
        scene.harness.parts.items.send_kind(scene.player, kind)
        item = scene.client.decoded("WS_ExamineInfo")[-1]["item"]
        return item["scribed"], item.get("scribed_better_version", 0)

    assert [shown(tier) for tier in (1, 4)] == [(1, 0), (0, 0)]
    scene.know(SMITE_ID, tier=4)
    assert [shown(tier) for tier in (1, 4)] == [(1, int(version > 561)), (1, 0)]


def test_an_art_of_crafting_is_locked_until_something_is_made(tmp_path: Path) -> None:
    """Recorded in real-entry-* and items-*: spells of the third book are locked at all times."""
    scene = SpellScene(tmp_path, toml=SMITE + "[[spell]]\nid = 9\nbook = 3\n[[spell.tier]]\n")
    scene.know(9)
    assert scene.player.past.spells == {SMITE_ID: 1, 9: 1}

    def statuses() -> list[int]:
        return [one.status for one in scene.spells.books.records(scene.player)]

    assert statuses() == [235, 169]
    for is_begun, wanted in ((True, 235), (False, 169)):
        before = len(books(scene))
        event = CraftingChanged(scene.player, is_begun=is_begun)
        scene.harness.world.events.publish(event)
        assert len(books(scene)) == before + 1
        assert statuses() == [235, wanted]


@pytest.mark.parametrize(("version", "code"), [(546, 36), (1096, 41), (1208, 42), (60114, 42)])
def test_an_art_of_crafting_is_refused_outside_of_it(
    tmp_path: Path, version: int, code: int
) -> None:
    """The second refusal of eq2-spells.md 3; its numbers are those of the table `spell_errors`.

    Every number that is recorded at 546 is one above that of the table.
    """
    scene = SpellScene(tmp_path, version, toml=SMITE.replace("id = 110014", "id = 9\nbook = 3"))
    scene.know(9)
    scene.cast(9, scene.creature())
    assert scene.errors() == [code]
    scene.harness.world.events.publish(CraftingChanged(scene.player, is_begun=True))
    scene.cast(9, scene.creature())
    assert scene.spells.casts.is_casting(scene.player.spawn)


@pytest.mark.parametrize(("control", "status"), [(1, 169), (4, 169), (5, 235), (2, 235)])
def test_the_book_of_who_is_held_is_locked(tmp_path: Path, control: int, status: int) -> None:
    """Mesmerized and stunned players have a locked book (eq2-combat.md 5.4)."""
    scene = SpellScene(tmp_path, toml=SMITE + BUFF)
    scene.script(f"function cast(C, T) AddControlEffect(T, {control}) end", "Spells/Buff.lua")

    def shown() -> int:
        return scene.spells.books.records(scene.player)[0].status

    before = len(books(scene))
    scene.spells.give(scene.player, COURAGE_ID, 1)
    assert shown() == status
    assert len(books(scene)) == before + (status == 169)
    scene.spells.lasting.end(scene.effects()[0], "canceled")
    assert shown() == 235
    assert len(books(scene)) == before + 2 * (status == 169)
