"""Recorded ghosts of 19 client versions: they decode to named fields and encode to the same bytes.

The recordings are not part of the project (docs/contributing/tests.md#variables).
"""

from __future__ import annotations

import gzip
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from emu.rules.stance import look_at
from emu.world.actors.spawn import Footer, Spawn, SpawnKind, Verb
from emu.world.visibility.baselines import GhostBaseline
from emu.world_stream.ghosts import (
    CREATE_GHOST,
    CREATE_SIGN,
    CREATE_WIDGET,
    HEADER,
    PARTS,
    POSITION,
    GhostReader,
)
from emu.world_stream.movement import Position
from tests.support.world.ghost_views import dialect, form

FOLDER = Path(__file__).parent.parent.parent.parent / "shared" / "data" / "recordings"
FILE = Path(os.environ.get("EMU_RECORDINGS", FOLDER)) / "newer-ghost-vectors.jsonl.gz"
COMMANDS = {
    "CreateGhost": CREATE_GHOST,
    "CreateWidget": CREATE_WIDGET,
    "CreateSignWidget": CREATE_SIGN,
}
VERSIONS = (
    546, 561, 908, 1011, 1045, 1096, 1188, 1193, 1208, 57080, 57107, 58647, 60036, 60055, 60085,
    60114, 63119, 64659, 64753,
)  # fmt: skip
NEWER = VERSIONS[2:]
NAMED = {
    "name": "name", "last_name": "last_name", "prefix": "prefix", "suffix": "suffix",
    "level": "level", "class": "class", "gender": "gender", "visual_state": "visual_state",
    "mood_state": "mood_state", "action_state": "action_state", "hair_type_id": "hair_type_id",
}  # fmt: skip
"""For each fact of a recorded ghost that is one value: the field that has it."""
HAIR = (
    "hair_type_color", "hair_face_color", "wing_color1", "hair_type_highlight_color",
    "hair_face_highlight_color", "wing_color2", "soga_hair_type_color",
    "soga_hair_type_highlight_color", "soga_hair_face_color", "soga_hair_face_highlight_color",
    "hair_color1", "hair_color2", "hair_highlight", "soga_hair_color1", "soga_hair_color2",
    "soga_hair_highlight",
)  # fmt: skip


@cache
def recorded() -> dict[int, list[dict[str, Any]]]:
    if not FILE.exists():
        pytest.skip("the recordings are not on this machine (EMU_RECORDINGS)")
    found: dict[int, list[dict[str, Any]]] = {version: [] for version in VERSIONS}
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["k"] == "ghost":
                found[row["ver"]].append(row)
    return found


@pytest.mark.parametrize("version", VERSIONS)
def test_recorded_ghosts_decode_and_encode_to_the_same_bytes(version: int) -> None:
    rows = recorded()[version]
    assert len(rows) == 14
    for row in rows:
        reader = GhostReader(dialect(version))
        ghost = reader.create(COMMANDS[row["cmd"]], bytes.fromhex(row["payload"]))
        assert [part.hex() for part in ghost.parts] == [row["pos"], row["view"], row["info"]]
        for part, name in enumerate(PARTS):
            layout = dialect(version).layout(name)
            assert layout.encode(layout.decode(ghost.parts[part])) == ghost.parts[part]
        head = dialect(version).layout(HEADER).encode(ghost.header).hex()
        assert row["payload"].startswith(head)
        whole = reader.ghost_fields(ghost)
        fields = whole["info"] | {
            key: value for key, value in whole.get("footer", {}).items() if key in NAMED.values()
        }
        check_facts(version, row["facts"], fields, whole["position"])


def check_facts(
    version: int, facts: dict[str, Any], fields: dict[str, Any], position: dict[str, Any]
) -> None:
    """Compare a ghost with the values that it was made of."""
    if facts["kind"] != "npc":
        return
    for fact, name in NAMED.items():
        value = fields[name]
        value = value.rstrip("\0") if isinstance(value, str) else value
        if version < 562 and fact in ("prefix", "suffix", "last_name"):
            continue  # EQ2Emulator leaves them empty for those clients
        if fact in facts and not (fact == "visual_state" and facts["attackable"]):
            assert value == facts[fact], name
    assert position["pos_heading1"] == facts["heading64"]
    if version > 561:
        for name, color in facts["colours"].items():
            assert fields.get(name, color) == color, name


@pytest.mark.parametrize("version", NEWER)
def test_an_own_ghost_is_made_as_it_was_recorded(version: int) -> None:
    (row,) = [one for one in recorded()[version] if one["facts"]["kind"] == "self"]
    facts = row["facts"]
    at = dialect(version).layout(PARTS[POSITION]).decode(bytes.fromhex(row["pos"]))
    skin, eye, hair = (
        [int(part * 255) for part in facts["create_colours"][name]]
        for name in ("skin", "eye", "hair")
    )
    looks: dict[str, Any] = dict.fromkeys(("skin_color", "soga_skin_color"), skin)
    looks |= dict.fromkeys(("eye_color", "soga_eye_color"), eye) | dict.fromkeys(HAIR, hair)
    if version >= 64659:
        del looks["hair_highlight"]  # not in their create requests
    numbers = ("model_type", "combat_voice", "emote_voice", "class", "race", "gender")
    looks |= {name: facts[name] for name in numbers} | {"soga_model_type": facts["model_type"]}
    place = Position(at["pos_x"], at["pos_y"], at["pos_z"])
    spawn = Spawn(9, SpawnKind.PLAYER, facts["name"], place, appearance=looks)
    baseline = GhostBaseline(spawn, form(version), own=True)
    header = GhostReader(dialect(version)).create(
        CREATE_GHOST, bytes.fromhex(row["payload"])
    ).header  # fmt: skip
    assert baseline.create(1, header["time_stamp"]).hex() == row["payload"]


NOT_SENT = {
    # EQ2Emulator sends the height of the ground, and has no maps here.
    "pos_y",
    # It leaves the names of creatures out for clients up to 561, though they have the fields.
    "prefix", "suffix", "last_name", "guild",
    # It never sends the text that its table has for a verb from too far away.
    "command_list_array",
    # Creatures that look for a group: marks of players that its table has by mistake.
    "activity_status",
}  # fmt: skip
"""Fields in which this server differs from the recorded one, with the reasons."""
BODY = (
    "gender", "hair_type_id", "facial_hair_type_id", "wing_type_id", "chest_type_id",
    "legs_type_id", "soga_hair_type_id", "soga_facial_hair_type_id", "class",
)  # fmt: skip


@cache
def verb_lists() -> dict[str, list[list[Any]]]:
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        commands: dict[str, list[list[Any]]] = json.loads(next(lines))["commands"]
    return commands


def looks_of(facts: dict[str, Any]) -> dict[str, Any]:
    looks = {"race": facts["race"], "model_type": facts["model"]}
    if facts["kind"] != "npc":
        return looks
    looks |= {name: facts[name] for name in BODY} | {"soga_model_type": facts["soga_model"]}
    looks |= facts["colours"]
    looks |= {
        name: value[0] if len(value) == 1 else value for name, value in facts["sliders"].items()
    }
    worn = {slot: row for slot, *row in facts["equipment"]}
    for at, name in enumerate(("equipment_types", "equipment_colors", "equipment_highlights")):
        nothing: Any = [0, 0, 0] if at else 0
        looks[name] = [worn[slot][at] if slot in worn else nothing for slot in range(25)]
    return looks


def spawn_of(facts: dict[str, Any]) -> Spawn:
    """Return the spawn that a ghost was recorded of."""
    footer = None
    if facts["kind"] in ("sign", "widget"):
        footer = Footer(
            facts["widget_id"], facts["widget_x"], facts["widget_y"], facts["widget_z"],
            facts.get("title", ""), facts.get("description", ""), facts.get("sign_distance", 0.0),
            language=facts.get("language", 0), with_heading=bool(facts["include_heading"]),
            with_place=bool(facts["include_location"]),
        )  # fmt: skip
    place = Position(
        facts["x"], facts["y"], facts["z"], facts["heading64"] / 64 + 180, facts["grid"]
    )
    states = {name: facts.get(name, 0) for name in ("action_state", "mood_state", "emote_state")}
    return Spawn(
        7, SpawnKind(facts["kind"]), facts["name"], place, prefix=facts["prefix"],
        suffix=facts["suffix"], last_name=facts["last_name"], guild=facts["title_line"] or "",
        level=facts["level"], difficulty=facts["difficulty"], heroic=facts.get("heroic_flag", 0),
        size=facts["size"], collision_radius=facts["collision_radius"] or 32,
        appearance=looks_of(facts), footer=footer, icon=facts.get("icon", 0),
        verbs=tuple(Verb(*row) for row in verb_lists().get(str(facts["command_primary"]), ())),
        attackable=bool(facts["attackable"]), targetable=bool(facts["targetable"]),
        show_name=bool(facts["show_name"]), show_level=bool(facts["show_level"]),
        show_commands=bool(facts["show_command_icon"]), hand_icon=facts["display_hand_icon"],
        faction=facts["faction_id"], pitch=facts["pitch64"], roll=facts["roll64"],
        hovers=bool(facts.get("flies")), visual_state=facts["visual_state"],
        position_state=facts["state"] if facts["kind"] == "npc" else None,
        words=frozenset(("hide_hood",) if facts.get("hide_hood") else ()), **states,
    )  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS)
def test_ghosts_of_others_are_made_as_they_were_recorded(version: int) -> None:
    """Every field of thirteen ghosts: creatures, objects, signs, widgets, what can be gathered."""
    rows = [row for row in recorded()[version] if row["facts"]["kind"] != "self"]
    for row in rows:
        theirs, ours = GhostReader(dialect(version)), GhostReader(dialect(version))
        command = COMMANDS[row["cmd"]]
        ghost = theirs.create(command, bytes.fromhex(row["payload"]))
        baseline = GhostBaseline(spawn_of(row["facts"]), form(version), own=False)
        stance = baseline.now.stance
        # The viewer had level 1, and no standing with any faction.
        look = look_at(stance, 1, {}) if stance is not None else None
        index, time = ghost.header["index"], ghost.header["time_stamp"]
        made = ours.create(command, baseline.create(index, time, look=look))
        for name, part in theirs.ghost_fields(ghost).items():
            own = ours.ghost_fields(made)[name]
            if not isinstance(part, dict):
                assert own == part or name in NOT_SENT, (row["facts"]["name"], name)
                continue
            wrong = {key: (own[key], value) for key, value in part.items() if own[key] != value}
            assert not wrong.keys() - NOT_SENT, (row["facts"]["name"], wrong)
