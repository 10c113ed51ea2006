"""What a character keeps of its travels, as it is stored."""

from hypothesis import given
from hypothesis import strategies as st

from emu.model import LONGEST_TRAVELS
from emu.times import Moment
from emu.world.actors.spawn import Destination
from emu.world.travel.records import (
    MOST_AREAS,
    MOST_INSTANCES,
    InstanceLock,
    TravelRecord,
    read_record,
)
from emu.world_stream.movement import Position

coordinates = st.integers(-32_000_000, 32_000_000).map(lambda one: one / 1000)
places = st.builds(
    Position, coordinates, coordinates, coordinates,
    st.integers(0, 359_999).map(lambda one: one / 1000), st.integers(0, 0xFFFFFFFF),
)  # fmt: skip
numbers = st.integers(0, 0xFFFFFFFF)
moments = st.integers(0, 4_000_000_000).map(lambda one: Moment(float(one)))
locks = st.builds(InstanceLock, numbers, moments, moments)


@given(
    st.none() | st.builds(Destination, numbers, places),
    st.lists(numbers, max_size=20),
    st.dictionaries(numbers, locks, max_size=20),
)
def test_a_record_is_read_as_it_was_written(
    bound: Destination | None, areas: list[int], instances: dict[int, InstanceLock]
) -> None:
    record = TravelRecord(bound, areas, instances)
    assert read_record(record.text) == record


@given(st.text(max_size=200) | st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers(), lambda inner: st.lists(inner)
    | st.dictionaries(st.sampled_from(["bound", "areas", "instances", "5"]), inner), max_leaves=20,
).map(str))  # fmt: skip
def test_any_text_is_read(text: str) -> None:
    read_record(text.replace("'", '"'))


def test_what_is_not_usable_is_left_out() -> None:
    text = (
        '{"bound":[12,1,2,99999999,0,0],"areas":[1,"x",-2,true],'
        '"instances":{"5":[1,2],"6":[7,1,2],"x":[1,1,1],"7":["a",1,2]}}'
    )
    record = read_record(text)
    assert (record.bound, record.areas) == (None, [1])
    assert record.instances == {6: InstanceLock(7, Moment(1.0), Moment(2.0))}
    assert read_record('{"areas":5,"instances":[]}') == TravelRecord()
    assert read_record("[1]") == TravelRecord()


def test_the_fullest_record_can_be_stored() -> None:
    lock = InstanceLock(0xFFFFFFFF, Moment(1_800_000_000.123), Moment(1_800_000_000.123))
    record = TravelRecord(
        Destination(12, Position(-12345.678, 1.0, 2.0, 359.123, 0xFFFFFFFF)),
        list(range(100_000, 100_000 + 2 * MOST_AREAS)),
        dict.fromkeys(range(60000, 60000 + 2 * MOST_INSTANCES), lock),
    )
    assert len(record.text) < LONGEST_TRAVELS
    kept = read_record(record.text)
    assert (len(kept.areas), len(kept.instances)) == (MOST_AREAS, MOST_INSTANCES)
    assert kept.areas[-1] == 100_000 + 2 * MOST_AREAS - 1
