"""Predictions: the recorded ones, and what is no prediction."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import MalformedMessage, UnknownBase
from emu.world_stream.deltas import PredictionReader
from tests.support.world.ghost_views import dialect

FIRST = bytes.fromhex(
    "00181b00002200000006833f802db3c21443dc01b343dc444d01b3444dc2141fc1dc3799c2144383444d13"
)
SECOND = bytes.fromhex("00d0260000110000003981800191804005814021818001814014")
"""docs/protocol/world/recorded.md#predictions: first and second prediction of one client."""


def test_the_recorded_predictions() -> None:
    reader = PredictionReader(dialect(546))
    first = reader.fields(reader.read(FIRST))
    assert (first["type"], first["time"]) == (0, 0x1B18)
    position = first["position"]
    assert [position[name] for name in ("x", "y", "z", "grid_location")] == [
        440.0,
        -37.0,
        820.0,
        55,
    ]
    second = reader.fields(reader.read(SECOND))
    assert (second["type"], second["time"]) == (0, 0x26D0)
    assert second["position"]["x"] == 441.0
    assert second["position"]["z"] == 821.0
    assert not {"y", "grid_location"} & second["position"].keys()


def test_a_prediction_after_a_missed_one_is_not_guessed() -> None:
    reader = PredictionReader(dialect(546))
    reader.read(FIRST)
    reader.miss()
    with pytest.raises(UnknownBase, match="Player_Update"):
        reader.read(SECOND)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    with contextlib.suppress(MalformedMessage):
        PredictionReader(dialect(546)).read(body)
