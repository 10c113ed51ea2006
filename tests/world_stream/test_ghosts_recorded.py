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

from emu.world.actors.spawn import Spawn, SpawnKind
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
