"""Ghosts as a client reads them: recorded updates, footers, damage, and every round trip."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import MalformedMessage, UnknownStruct
from emu.world_stream.ghosts import (  # fmt: skip
    CREATE_GHOST,
    CREATE_SIGN,
    CREATE_WIDGET,
    INFO,
    POSITION,
    SIGN_FOOTER,
    VISIBILITY,
    GhostReader,
)
from tests.support.world.ghost_views import dialect
from tests.support.world.ghost_writer import PART_NAMES, GhostWriter

NO_CHANGES = {"info": [], "position": [], "vis": []}


def scene(version: int = 546) -> tuple[GhostWriter, GhostReader]:
    return GhostWriter(version), GhostReader(dialect(version))


def borvik() -> tuple[GhostWriter, GhostReader]:
    """Index 8 as it stood before it moved (docs/protocol/world/recorded.md#update-ghost)."""
    writer, reader = scene()
    position = {"pos_heading1": -5632, "pos_heading2": -5632, "pos_x": 1.56, "pos_z": 243.45}
    reader.create(CREATE_GHOST, writer.create(8, position=position, info={"name": "Borvik"}))
    for index in (2, 3, 4, 7):
        reader.create(CREATE_GHOST, writer.create(index))
    return writer, reader


def test_a_recorded_idle_update() -> None:
    # docs/protocol/world/recorded.md#update-ghost: four ghosts named without a change.
    _, reader = borvik()
    update = reader.update(bytes.fromhex("325c0300 00 08 0258 0358 0458 0758 00"))
    named = [{"index": index} for index in (2, 3, 4, 7)]
    assert reader.update_fields(update) == {"time": 0x35C32, **NO_CHANGES, "position": named}


def test_recorded_movement_sitting_down_and_standing_up() -> None:
    # docs/protocol/world/recorded.md#update-ghost, t=38.74 and later.
    _, reader = borvik()
    first = reader.update(bytes.fromhex(
        "68e30400 00 22 0258 0358 0458 0758"
        "08 8304d209bf0480fc80fc801b81b4038f7fc4791e0289b4400c 00"
    ))  # fmt: skip
    moved = reader.update_fields(first)["position"][-1]
    assert {name: round(value, 2) for name, value in moved.items()} == {
        "index": 8, "pos_grid_id": 1234, "pos_heading1": 5760, "pos_heading2": 5760,
        "pos_speed": 1152, "pos_pitch1": 180, "pos_x": 2.06, "pos_z": 243.2, "pos_pitch2": 180,
    }  # fmt: skip
    second = reader.update_fields(
        reader.update(bytes.fromhex("00000000 00 10 0258 0358 0458 0758 08 3e81208301c00c 00"))
    )
    assert second["position"][-1].keys() == {"index", "pos_x", "pos_z"}
    sat = reader.update(bytes.fromhex("00000000 0e 08 7f7f7f7f7f7f7f7f 41 83 021a 01 00 00"))
    assert reader.update_fields(sat)["info"] == [{"index": 8, "visual_state": 538}]
    stood = reader.update(bytes.fromhex("00000000 0d 08 7f7f7f7f7f7f7f7f 41 81 01 01 00 00"))
    assert reader.update_fields(stood)["info"] == [{"index": 8, "visual_state": 539}]


def test_recorded_own_regeneration() -> None:
    # docs/protocol/world/recorded.md#update-ghost: hp is 100 XOR 42 percent; power goes
    # from 100 to 43.
    writer, reader = scene()
    reader.create(CREATE_GHOST, writer.create(1, info={"power_percent": 100}))
    update = reader.update(bytes.fromhex("00000000 0d 01 91 4f4e 7f7f7f7f7f7f7f7f 42 00 00"))
    assert reader.update_fields(update)["info"] == [
        {"index": 1, "hp_remaining": 100 ^ 42, "power_percent": 43}
    ]


@pytest.mark.parametrize(("version", "size"), [(546, 1255), (561, 1230)])
def test_a_new_ghost_shows_everything(version: int, size: int) -> None:
    writer, reader = scene(version)
    payload = writer.create(300, position={"pos_x": 1.5}, vis={"targetable": 1}, info={"level": 9})
    fields = reader.ghost_fields(reader.create(CREATE_GHOST, payload))
    assert sum(reader.sizes) == reader.size == size
    assert (fields["index"], fields["spawn_id"]) == (300, 300)
    assert fields["position"]["pos_x"] == 1.5
    assert fields["vis"]["targetable"] == 1
    assert fields["info"]["level"] == 9
    assert "footer" not in fields


def test_footers_of_signs_and_widgets() -> None:
    writer, reader = scene()
    # docs/protocol/world/recorded.md#own-ghost
    listener = bytes.fromhex("56108fd5d656a84020d24bc145b89fc2")
    fields = reader.ghost_fields(reader.create(CREATE_WIDGET, writer.create(7, listener)))
    assert fields["footer"]["widget_id"] == 0xD58F1056
    sign = dialect(546).layout(SIGN_FOOTER).encode({"title": "To the docks", "sign_distance": 7.0})
    fields = reader.ghost_fields(reader.create(CREATE_SIGN, writer.create(5, sign)))
    assert (fields["footer"]["title"], fields["footer"]["sign_distance"]) == ("To the docks", 7.0)
    for command, footer in ((CREATE_GHOST, listener), (CREATE_WIDGET, b""), (CREATE_WIDGET, sign)):
        with pytest.raises(MalformedMessage):
            reader.create(command, writer.create(9, footer))
    assert 9 not in reader.ghosts


def test_a_ghost_that_was_not_read_is_not_guessed_and_the_others_are_read() -> None:
    writer, reader = scene()
    writer.create(2)
    reader.create(CREATE_GHOST, writer.create(3))
    entries = [writer.changed(POSITION, index, {"pos_x": 4.0}) for index in (2, 3)]
    shown = reader.update_fields(reader.update(writer.update(1, entries)))["position"]
    assert shown == [
        {"index": 2, "undecoded": "the creation of this ghost was not read"},
        {"index": 3, "pos_x": 4.0},
    ]


def test_a_destroyed_ghost_is_forgotten() -> None:
    writer, reader = scene()
    reader.create(CREATE_GHOST, writer.create(2))
    reader.destroy(2)
    reader.destroy(2)
    entry = reader.update(writer.update(1, [writer.changed(INFO, 2, {"level": 1})])).entries[0]
    assert entry == (INFO, 2, None, None)


@pytest.mark.parametrize(
    "hexed",
    [
        "", "000000", "00000000", "0000000000", "000000000000", "00000000000000ff",
        "00000000ff", "0000000001", "0000000002 0258", "00000000 00 02 0257 00",
        "00000000 00 03 025800 00", "00000000 00 01 02 00",
    ],
)  # fmt: skip
def test_a_damaged_update_is_refused_and_leaves_no_ghost_to_guess_about(hexed: str) -> None:
    writer, reader = scene()
    reader.create(CREATE_GHOST, writer.create(2))
    with pytest.raises(MalformedMessage):
        reader.update(bytes.fromhex(hexed))
    assert not reader.ghosts


def test_versions_whose_ghosts_nobody_wrote_down() -> None:
    with pytest.raises(UnknownStruct):
        GhostReader(dialect(372))


VERSIONS = st.sampled_from((546, 561))
CHANGES = st.lists(
    st.tuples(
        st.sampled_from((POSITION, VISIBILITY, INFO)), st.sampled_from((1, 2, 300)), st.randoms()
    ),
    max_size=6,
)


@given(VERSIONS, st.lists(CHANGES, max_size=4))
def test_what_was_written_is_read(version, rounds) -> None:
    writer, reader = scene(version)
    for index in (1, 2, 300):
        reader.create(CREATE_GHOST, writer.create(index))
    for changes in rounds:
        entries = []
        for part, index, random in changes:
            now = bytearray(writer.sent[index][part])
            now[random.randrange(len(now))] = random.randrange(256)
            entries.append((part, index, bytes(now)))
        update = reader.update(writer.update(7, entries))
        assert len(update.entries) == len(entries)
        reader.update_fields(update)
        assert {index: ghost.parts for index, ghost in reader.ghosts.items()} == writer.sent


@given(VERSIONS, st.binary(max_size=120), st.sampled_from((CREATE_GHOST, CREATE_SIGN, "update")))
def test_any_bytes_are_read_or_refused(version, payload, command) -> None:
    writer, reader = scene(version)
    reader.create(CREATE_GHOST, writer.create(2))
    with contextlib.suppress(MalformedMessage):
        if command == "update":
            reader.update_fields(reader.update(payload))
        else:
            reader.ghost_fields(reader.create(command, payload))


def test_parts_are_named_as_in_the_whole_struct() -> None:
    assert [field.name for field in dialect(546).layout("WS_SpawnStruct").definition.fields] == [
        *PART_NAMES
    ]
