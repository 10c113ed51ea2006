"""What a spawn of a content file looks like and offers."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from emu.content.importing import import_content
from emu.content.population import Population, Surroundings
from emu.content.sources import dump_parts
from emu.times import Monotonic
from emu.world.actors.dealings import Dealing, MerchantKind
from emu.world.actors.spawn import Spawn, SpawnKind, Verb
from emu.world.population.looks import RolledLooks, Rolls, randomized, spawn_of, verbs_of
from emu.world.population.reading import read_zone_content
from emu.world.visibility.baselines import GhostBaseline
from tests.support.content.dumps import write_dumps
from tests.support.world.ghost_views import View, form

PLACE = {"zone_id": 9, "respawn": 300}
TABLES: dict[str, list[dict[str, Any]]] = {
    "zones": [{"id": 9, "name": "meadow", "file": "exp01_meadow"}],
    "spawn": [
        {"id": 1, "name": "a wolf", "prefix": "Old", "suffix": "the Grey", "sub_title": "of Oak",
         "race": 255, "model_type": 85, "size": 40, "size_offset": 8, "collision_radius": 0,
         "attackable": 1, "targetable": 1, "show_name": 1, "show_level": 1, "show_command_icon": 1,
         "display_hand_icon": 2, "command_primary": 5, "command_secondary": 6, "faction_id": 1,
         "visual_state": 70, "merchant_id": 41, "merchant_type": 18, "merchant_min_level": 3,
         "merchant_max_level": 9, "loot_tier": 1},
        {"id": 2, "name": "roots", "model_type": 1733, "targetable": 1, "show_name": 1},
        {"id": 3, "name": "a bell", "show_command_icon": 1},
        {"id": 4, "name": "a lever", "show_command_icon": 0},
        {"id": 5, "name": "a crate", "size": 64},
    ],
    "spawn_npcs": [
        {"id": 1, "spawn_id": 1, "min_level": 9, "max_level": 4, "enc_level": 8, "heroic_flag": 1,
         "gender": 2, "hair_type_id": 1130, "hide_hood": 1, "initial_state": 49156,
         "flying_type": 1, "action_state": 11, "mood_state": 12, "emote_state": 13,
         "soga_model_type": 86},
    ],
    "spawn_ground": [{"id": 1, "spawn_id": 2, "randomize_heading": 1}],
    "spawn_signs": [
        {"id": 1, "spawn_id": 3, "type": "Generic", "title": "Bell", "description": "Ring it.",
         "sign_distance": 7, "widget_id": 77, "widget_x": 1.5, "icon": 6, "language": 27,
         "include_heading": 0, "include_location": 0},
    ],
    "spawn_widgets": [{"id": 1, "spawn_id": 4, "type": "Generic", "widget_id": 78, "icon": 28}],
    "spawn_objects": [{"id": 1, "spawn_id": 5}],
    "spawn_location_placement": [
        {**PLACE, "id": 11, "spawn_location_id": 1, "heading": 90, "pitch": 10, "roll": 350,
         "difficulty_override": 9, "lvl_override": 30, "hp_override": 777, "grid_id": 1234},
        *({**PLACE, "id": 10 + one, "spawn_location_id": one, "x": one} for one in range(2, 7)),
    ],
    "spawn_location_entry": [
        {"id": one, "spawn_id": min(one, 5), "spawn_location_id": one, "spawnpercentage": 100}
        for one in range(1, 6)
    ] + [{"id": 6, "spawn_id": 1, "spawn_location_id": 6, "spawnpercentage": 14}],
    "npc_appearance": [
        {"id": 1, "spawn_id": 1, "type": "eye_type", "red": 200, "green": 3, "blue": -4},
        {"id": 2, "spawn_id": 1, "type": "skin_color", "red": 200, "green": 3, "blue": 4},
        {"id": 3, "spawn_id": 1, "type": "body_size", "red": 250},
        {"id": 4, "spawn_id": 1, "type": "soga_unknown13", "red": 1},
        {"id": 5, "spawn_id": 1, "type": "shirt_color", "red": 9},
    ],
    "entity_commands": [
        {"id": 1, "command_list_id": 5, "command_text": "Pet", "command": "touch the wolf",
         "distance": 4, "cast_time": 250, "spell_visual": 35, "error_text": "Too far"},
        {"id": 2, "command_list_id": 5, "command_text": "", "command": "hidden"},
        {"id": 3, "command_list_id": 6, "command_text": "Feed", "command": "feed"},
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def spawns(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Spawn]:
    """Return what stands, by placement."""
    folder = tmp_path_factory.mktemp("looks")
    path = folder / "content.sqlite"
    import_content(dump_parts([write_dumps(folder / "dumps", TABLES)]), Path(path))
    served = read_zone_content(path, 9)
    assert served is not None
    assert served.faults == ()
    population = Population(served.content, Random(5), Surroundings())
    return {
        one.placement.id: spawn_of(served.templates[one.template.id], one, one.placement.id)
        for one in population.open(Monotonic(0.0))
    }


def test_a_creature_has_all_that_its_rows_say(spawns: dict[int, Spawn]) -> None:
    wolf = spawns[11]
    assert wolf.kind is SpawnKind.NPC
    assert (wolf.prefix, wolf.name, wolf.suffix, wolf.guild) == (
        "Old",
        "a wolf",
        "the Grey",
        "of Oak",
    )
    assert (wolf.attackable, wolf.targetable, wolf.show_level, wolf.show_commands) == (True,) * 4
    assert (wolf.hand_icon, wolf.faction, wolf.heroic) == (2, 1, 1)
    assert (wolf.position_state, wolf.hovers, wolf.visual_state) == (49156, True, 70)
    assert (wolf.action_state, wolf.mood_state, wolf.emote_state) == (11, 12, 13)
    assert wolf.words == {"hide_hood"}
    assert wolf.collision_radius == 32, "0 is the usual one"
    assert 32 <= wolf.size <= 48
    looks = wolf.appearance
    assert (looks["model_type"], looks["soga_model_type"], looks["gender"]) == (85, 86, 2)
    assert looks["eye_type"] == (-56, 3, -4), "a slider above 127 is negative"
    assert looks["skin_color"] == (200, 3, 4)
    assert looks["body_size"] == -6
    assert looks["chest_type_color"] == (9, 0, 0)
    assert "soga_unknown13" not in looks


def test_a_creature_knows_what_it_sells_and_leaves_behind(spawns: dict[int, Spawn]) -> None:
    kind = MerchantKind.SELLS_NOTHING_BACK | MerchantKind.MENDER
    assert spawns[11].look.dealing == Dealing(1, 41, kind, (3, 9), loot_tier=1, model=85)
    assert not spawns[12].look.dealing.is_merchant


def test_a_placement_overrides_the_template(spawns: dict[int, Spawn]) -> None:
    wolf, other = spawns[11], spawns[16]
    assert (wolf.level, wolf.difficulty, wolf.sheet.health.most) == (30, 9, 777)
    assert other.difficulty == 8
    assert 4 <= other.level <= 9, "crossed levels are exchanged"
    assert (wolf.pitch, wolf.roll) == ((10 - 180) * 64, (350 - 180) * 64)
    assert (other.pitch, other.roll) == (0, 0)
    assert wolf.position == (0.0, 0.0, 0.0, 90.0, 1234)


def test_verbs_have_distance_error_and_time(spawns: dict[int, Spawn]) -> None:
    wolf = spawns[11]
    pet = Verb("Pet", 4.0, "touch the wolf", "Too far", 2.5, 35, is_command=False)
    assert wolf.verbs == (pet,)
    assert [verb.name for verb in wolf.more_verbs] == ["Feed"]


def test_what_can_be_gathered_has_a_heading_by_chance(spawns: dict[int, Spawn]) -> None:
    roots = spawns[12]
    assert roots.kind is SpawnKind.GROUND
    assert 0.0 < roots.position.heading < 360.0


def test_signs_and_widgets_have_their_number_icon_and_marks(spawns: dict[int, Spawn]) -> None:
    bell, lever = spawns[13], spawns[14]
    assert bell.footer == (77, 1.5, 0.0, 0.0, "Bell", "Ring it.", 7.0, True, 27, False, False)
    assert (bell.icon, bell.show_commands, bell.targetable, bell.show_name) == (
        6,
        True,
        False,
        False,
    )
    assert lever.footer is not None
    assert (lever.footer.id, lever.footer.with_heading, lever.icon) == (78, True, 28)
    assert lever.show_commands is False


@pytest.mark.parametrize("version", [546, 561, 908, 1011, 1096, 1188, 1208, 57080, 60114, 64753])
def test_every_client_can_be_shown_all_of_them(spawns: dict[int, Spawn], version: int) -> None:
    view = View(version)
    for index, spawn in enumerate(spawns.values(), 2):
        payload = GhostBaseline(spawn, form(version), own=False).create(index, 7)
        assert view.create(payload)["spawn_id"] == index
        # Clients from 927 to 1118 have no field for it.
        assert view.fields(index).get("pos_roll", 0) in (spawn.roll, 0)
        assert view.fields(index).get("model_type", 0) == spawn.appearance.get("model_type", 0)


ROLLS = {
    0x1: "gender", 0x8: "facial_hair_type_id", 0x10: "hair_type_id", 0x80: "cheek_type",
    0x2000: "nose_type", 0x4000: "eye_color", 0x400000: "skin_color", 0x800000: "wing_color1",
}  # fmt: skip


def rolls(seed: int) -> Rolls:
    return Rolls(Random(seed).getrandbits(512))


@pytest.mark.parametrize(("bit", "field"), list(ROLLS.items()))
def test_each_bit_rolls_its_own_field(bit: int, field: str) -> None:
    looks = {"model_type": 85, "skin_color": [1, 2, 3]}
    made = [randomized(looks, bit, rolls(seed)) for seed in range(40)]
    assert len({str(one[field]) for one in made}) > 1
    soga = f"soga_{field}"
    for one in made:
        assert one["model_type"] == 85
        assert one.keys() - looks.keys() <= {field, soga}
        assert one.get(soga, one[field]) == one[field]
    assert looks == {"model_type": 85, "skin_color": [1, 2, 3]}
    assert randomized(looks, bit, rolls(3)) == made[3], "a seed repeats"


class Asked(Rolls):
    """Always the first number; keeps between which ones it was to choose."""

    def __init__(self) -> None:
        super().__init__(0)
        self.ranges: list[tuple[int, int]] = []

    def between(self, first: int, last: int) -> int:
        self.ranges.append((first, last))
        return first


@pytest.mark.parametrize("bit", ROLLS)
def test_each_field_is_rolled_between_its_ends(bit: int) -> None:
    """Source: the `randomize` bits of EQ2Emulator's table spawn_npcs."""
    asked = Asked()
    randomized({}, bit, asked)
    numbers = {0x1: (1, 2), 0x8: (1164, 1191), 0x10: (1119, 1140)}
    sliders = {0x80, 0x100, 0x200, 0x400, 0x800, 0x1000, 0x2000}
    if bit in numbers:
        assert asked.ranges == [numbers[bit]]
    else:
        assert asked.ranges == [(-100, 100) if bit in sliders else (0, 255)] * 3


def test_looks_that_are_rolled_when_asked_for_are_the_same_each_time() -> None:
    looks, seed = {"model_type": 85, "skin_color": (1, 2, 3)}, Random(3).getrandbits(512)
    whole = randomized(looks, 0x400001, Rolls(seed))
    rolled = RolledLooks(looks, 0x400001, seed)
    for number in range(40):
        # Others are rolled in between.
        assert len(RolledLooks(looks, 0x1, number)) == 3
    assert dict(rolled) == whole
    assert rolled == whole
    assert rolled == RolledLooks(looks, 0x400001, seed)
    assert rolled != RolledLooks(looks, 0x400001, seed + 1)
    assert (len(rolled), rolled["gender"]) == (len(whole), whole["gender"])


@pytest.mark.parametrize(
    ("command", "is_command"),
    [("hail", True), ("Hail", True), ("frommerchant", True), ("inspect", False),
     ("unlock the grate and enter", False)],
)  # fmt: skip
def test_only_some_verbs_are_commands(command: str, is_command: bool) -> None:
    row = {"text": "Do", "distance": 5.0, "command": command, "error": "0", "cast_time": 0,
           "visual": 0}  # fmt: skip
    (verb,) = verbs_of([row])
    assert (verb.command, verb.is_command) == (command, is_command)
