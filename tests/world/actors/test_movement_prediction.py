"""Reading predictions: recorded bytes, every round trip, and garbage."""

from __future__ import annotations

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import MalformedMessage
from emu.world.actors.movement import StepReader
from tests.support.world.ghost_views import dialect
from tests.support.world.predictions import PredictionWriter

FIRST = bytes.fromhex(
    "00181b00002200000006833f802db3c21443dc01b343dc444d01b3444dc2141fc1dc3799c2144383444d13"
)
SECOND = bytes.fromhex("00d0260000110000003981800191804005814021818001814014")
"""docs/protocol/world/recorded.md#predictions: first and second prediction of one client."""

NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)


def test_the_recorded_steps() -> None:
    reader = StepReader(dialect(546))
    first = reader.read_step(FIRST)
    assert first.position == (440.0, -37.0, 820.0, 180.0, 55)
    assert first.pitch == 180.0
    assert reader.read_step(SECOND).position[:3] == (441.0, -37.0, 821.0)


@given(
    st.sampled_from((546, 561)),
    st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=5),
)
def test_steps_come_back_as_they_were_sent(
    version: int, places: list[tuple[float, float, float]]
) -> None:
    writer, reader = PredictionWriter(dialect(version)), StepReader(dialect(version))
    for place in places:
        assert reader.read_step(writer.write(*place)).position[:3] == place


@pytest.mark.parametrize("version", [844, 908, 1011, 1096, 1143])
def test_the_length_decides_between_two_layouts(version: int) -> None:
    """One source has 172 bytes from 844 on (docs/protocol/world/newer.md#position-of-clients)."""
    for content in ("Player_Update", "Player_Update_Long"):
        writer = PredictionWriter(dialect(version), content)
        reader = StepReader(dialect(version))
        with pytest.raises(MalformedMessage):
            reader.read_step(writer.write(9.0, 9.0, 9.0)[:-1])
        writer = PredictionWriter(dialect(version), content)
        for x in (1.0, 2.0, 3.0):
            step = reader.read_step(writer.write(x, -4.0, 5.0, speed=6.5, grid_location=7))
            assert step.position[:3] == (x, -4.0, 5.0)
            assert (step.speed, step.position.grid) == (6.5, 7)
        other = PredictionWriter(dialect(version), "Player_Update")
        if content != "Player_Update":
            with pytest.raises(MalformedMessage):
                reader.read_step(other.write(1.0, 2.0, 3.0))


def test_nonsense_is_read_and_the_next_step_is_understood() -> None:
    writer, reader = PredictionWriter(dialect(546)), StepReader(dialect(546))
    assert math.isnan(reader.read_step(writer.write(math.nan, 1e30, -math.inf)).position.x)
    assert reader.read_step(writer.write(1.0, 2.0, 3.0)).position[:3] == (1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        bytes(9),
        bytes(5) + b"\xff\xff\xff\xff",
        bytes(5) + (0x58).to_bytes(4, "little") + b"\x7f" * 0x57,
        bytes(5) + (600).to_bytes(4, "little") + b"\x7f" * 600,
        bytes(5) + (2000).to_bytes(4, "little") + b"\x01" * 2000,
        FIRST + b"\0",
    ],
)
def test_what_cannot_be_unpacked_leaves_the_base(body: bytes) -> None:
    reader = StepReader(dialect(546))
    reader.read_step(FIRST)
    with pytest.raises(MalformedMessage):
        reader.read_step(body)
    assert reader.read_step(SECOND).position[:3] == (441.0, -37.0, 821.0)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    with contextlib.suppress(MalformedMessage):
        StepReader(dialect(546)).read_step(body)
