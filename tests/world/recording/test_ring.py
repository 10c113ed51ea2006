"""The newest minutes of a zone."""

import pytest

from emu.world.recording.ring import MOST_ENTRIES, SEGMENTS, InputEntry, Ring, Segment


def filled(seconds: float, until: int) -> Ring:
    """A ring with an entry in each second."""
    ring = Ring(seconds, Segment(0.0))
    for now in range(until):
        if ring.is_over(now):
            ring.begin(Segment(now, snapshot="a snapshot"))
        ring.add_entry(InputEntry(now, now, "turn"))
    return ring


def test_a_ring_has_everything_of_a_young_zone() -> None:
    ring = filled(300, 250)
    assert len(ring) == 250
    assert ring.segments[0].snapshot is None


def test_a_ring_keeps_at_least_the_time_and_not_much_more() -> None:
    for until in (1000, 1001, 1030, 1059):
        ring = filled(300, until)
        assert 300 <= len(ring) <= 300 + 300 / SEGMENTS + 1
        kept = [entry.number for entry in ring]
        assert kept == list(range(kept[0], until))
        assert ring.segments[0].snapshot == "a snapshot"


@pytest.mark.slow
def test_a_ring_of_a_crowd_is_shorter() -> None:
    ring = Ring(300, Segment(0.0))
    for number in range(2 * MOST_ENTRIES):
        if ring.is_over(0.0):
            ring.begin(Segment(0.0))
        ring.add_entry(InputEntry(number, 0.0, "message"))
    assert MOST_ENTRIES / 2 < len(ring) <= MOST_ENTRIES + MOST_ENTRIES / SEGMENTS
