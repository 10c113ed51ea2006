"""A whole session: who reads which message, directions, and what was missed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import EmuError, UnknownBase, UnknownStruct
from emu.structs.packed import pack, xor
from emu.world_stream.ghosts import CREATE_GHOST, DESTROY_GHOST, POSITION, UPDATE_GHOST
from emu.world_stream.stream import BOOKS, PET, PREDICTION, SHEET, SHEET_STRUCT, WorldStream
from tests.support.world.ghost_views import dialect
from tests.support.world.ghost_writer import GhostWriter
from tests.world_stream.test_deltas_predictions import FIRST, SECOND

NAMES = (CREATE_GHOST, UPDATE_GHOST, DESTROY_GHOST, PREDICTION, SHEET, *BOOKS, "OP_ZoneInfoMsg")


def stream(version: int = 546) -> WorldStream:
    return WorldStream(dialect(version))


def test_messages_that_are_sent_whole_are_ignored() -> None:
    world = stream()
    assert world.read_message("OP_ZoneInfoMsg", b"", to_server=False) is None
    assert world.read_message(DESTROY_GHOST, b"\2\1", to_server=False) is None
    assert world.size == 0


def test_a_direction_has_its_own_messages() -> None:
    world = stream()
    writer = GhostWriter()
    create = writer.create(2)
    assert world.read_message(CREATE_GHOST, create, to_server=True) is None
    assert world.read_message(PREDICTION, FIRST, to_server=False) is None
    assert world.size == 0
    assert world.read_message(CREATE_GHOST, create, to_server=False) is not None
    assert world.read_message(PREDICTION, FIRST, to_server=True) is not None
    assert world.size == 1255 + 152


def test_a_ghost_lives_from_its_creation_to_its_end() -> None:
    world, writer = stream(), GhostWriter()
    world.read_message(CREATE_GHOST, writer.create(2), to_server=False)
    update = writer.update(1, [writer.changed(POSITION, 2, {"pos_x": 4.0})])
    fields = world.read_message(UPDATE_GHOST, update, to_server=False)
    assert fields == {"time": 1, "info": [], "position": [{"index": 2, "pos_x": 4.0}], "vis": []}
    assert world.read_message(DESTROY_GHOST, b"\2\1", to_server=False) is None
    fields = world.read_message(UPDATE_GHOST, update, to_server=False)
    assert fields is not None
    assert "undecoded" in fields["position"][0]


def test_missed_messages_lose_the_baselines_of_their_direction_only() -> None:
    world, writer = stream(), GhostWriter()
    world.read_message(CREATE_GHOST, writer.create(2), to_server=False)
    world.read_message(PREDICTION, FIRST, to_server=True)
    world.miss(to_server=False)
    assert world.size == 152
    assert world.read_message(PREDICTION, SECOND, to_server=True) is not None
    with pytest.raises(UnknownBase):
        world.read_message(SHEET, pack(bytes(4897), 546), to_server=False)
    world.read_message(CREATE_GHOST, writer.create(2), to_server=False)
    assert world.size == 1255 + 152 + 4897


def test_a_version_without_layouts_of_ghosts_is_refused() -> None:
    world = stream(372)
    with pytest.raises(UnknownStruct):
        world.read_message(CREATE_GHOST, b"", to_server=False)
    assert world.read_message(DESTROY_GHOST, b"\2\1", to_server=False) is None


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.binary(max_size=60), st.booleans())))
def test_no_bytes_raise_anything_but_our_errors(messages) -> None:
    world = stream(561)
    for name, payload, to_server in messages:
        try:
            fields = world.read_message(name, payload, to_server=to_server)
        except EmuError:
            continue
        assert fields is None or isinstance(fields, dict)


def test_the_sheet_of_561_that_eq2emulator_sends_to_newer_clients_is_read() -> None:
    # 1,146 recorded messages of 1096, 1208 and 57080: the sheet has 4,908 bytes there.
    old = dialect(561).layout(SHEET_STRUCT)
    for version in (1096, 1208, 57080):
        world, sheets = stream(version), [old.encode({"race": race}) for race in (7, 8)]
        assert len(sheets[0]) == 4908
        fields = world.read_message(SHEET, pack(sheets[0], version), to_server=False)
        assert fields is not None
        assert fields["sheet"]["race"] == 7
        change = pack(xor(*sheets), version)
        assert world.read_message(SHEET, change, to_server=False) == {"sheet": {"race": 8}}
        own = dialect(version).layout(SHEET_STRUCT).encode({"race": 9})
        fields = stream(version).read_message(SHEET, pack(own, version), to_server=False)
        assert fields is not None
        assert fields["race"] == 9, "what the client reads"


def test_a_recorded_pet_is_read() -> None:
    # 1208-two-players, line 103: nobody has a pet.
    fields = stream(1208).read_message(
        PET,
        bytes.fromhex("1a0000007f7f7f7f7f7f7f7f7f7f7f608fffffffff26bf746550206f4e3600000000"),
        to_server=False,
    )
    assert fields is not None
    assert "No Pet" in fields.values()
