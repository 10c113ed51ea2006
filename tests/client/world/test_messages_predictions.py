"""What the client's writer packs, the reader of `emu.world_stream` unpacks."""

from hypothesis import given
from hypothesis import strategies as st

from emu.client.world.messages import PredictionWriter
from emu.world_stream.deltas import PredictionReader
from tests.support.world.ghost_views import dialect
from tests.support.world.predictions import PredictionWriter as Witness

place = st.floats(-30_000, 30_000, width=32)


@given(
    version=st.sampled_from([546, 561]), steps=st.lists(st.tuples(place, place, place), max_size=5)
)
def test_a_way_is_read_back_step_by_step(version: int, steps) -> None:
    writer, reader = PredictionWriter(dialect(version)), PredictionReader(dialect(version))
    for number, (x, y, z) in enumerate(steps):
        read = reader.read(writer.write({"x": x, "y": y, "z": z, "activity": 128}, number))
        fields = reader.positions.layout.decode(read.position.now)
        assert (fields["x"], fields["y"], fields["z"], read.time) == (x, y, z, number)


def test_an_independent_writer_packs_the_same_bytes() -> None:
    writer, witness = PredictionWriter(dialect(546)), Witness(dialect(546))
    for x in (1.0, 2.5, 2.5):
        fields = {"x": x, "y": 0.0, "z": 3.0, "activity": 128}
        assert writer.write(fields, 0) == witness.write(x, 0.0, 3.0)
