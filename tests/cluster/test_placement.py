"""Which node a zone instance is placed on."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from emu.cluster.placement import choose, least_loaded
from emu.cluster.ports import LEASE, NodeAbout, NodeRow, NodeState, ZonePlace, ZonePlacement


def node(name: str, players: int = 0, capacity: int = 500, **changes: object) -> NodeRow:
    about = NodeAbout(f"{name}.example", 9001, "1.0", capacity)
    row = NodeRow(name, 1, about, NodeState.UP, players, 0, 1.0)
    return replace(row, **changes)  # type: ignore[arg-type]  # of the fields' types


EAST, WEST = node("east", 10), node("west", 20)
AT_WEST = ZonePlace(12, 0, "west", 1)


def test_a_zone_stays_where_it_is_while_its_node_lives() -> None:
    choice = choose(12, ZonePlacement([EAST, WEST], [AT_WEST]), LEASE)
    assert choice is not None
    assert (choice.node, choice.place, choice.is_new) == (WEST, AT_WEST, False)


def test_a_new_zone_goes_to_the_node_with_the_least_load_for_its_capacity() -> None:
    small = node("small", 10, capacity=100)
    assert least_loaded(12, [small, node("large", 30, capacity=1000)]).name == "large"  # type: ignore[union-attr]
    choice = choose(12, ZonePlacement([EAST, WEST], []), LEASE)
    assert choice is not None
    assert (choice.place, choice.instead_of) == (ZonePlace(12, 0, "east", 1), None)
    assert choice.is_new


def test_a_node_whose_clock_is_wrong_keeps_its_zones_and_takes_no_new_ones() -> None:
    wrong = replace(WEST, about=replace(WEST.about, clock_ahead=-3600.0))
    kept = choose(12, ZonePlacement([EAST, wrong], [AT_WEST]), LEASE)
    assert kept is not None
    assert (kept.node, kept.is_new) == (wrong, False)
    busy = replace(EAST, players=400)
    new = choose(33, ZonePlacement([busy, wrong], []), LEASE)
    assert new is not None
    assert new.node == busy
    assert choose(33, ZonePlacement([wrong], []), LEASE) is None


def test_zones_that_were_just_placed_count_as_load() -> None:
    assert least_loaded(12, [node("east", 3, instances=9), node("west", 10)]).name == "west"  # type: ignore[union-attr]


def test_equal_nodes_share_the_zones_and_everybody_chooses_alike() -> None:
    nodes = [node(f"n{number}") for number in range(5)]
    chosen = [least_loaded(zone, nodes) for zone in range(1000)]
    assert chosen == [least_loaded(zone, nodes[::-1]) for zone in range(1000)]
    counts = Counter(one.name for one in chosen if one is not None)
    assert min(counts.values()) > 120
    # Rendezvous hashing: without a node, only its zones move.
    fewer = [least_loaded(zone, nodes[:4]) for zone in range(1000)]
    assert all(a == b for a, b in zip(chosen, fewer, strict=True) if a != nodes[4])


def test_a_zone_of_a_lost_restarted_or_drained_node_is_replaced() -> None:
    for lost in (
        replace(WEST, silence=LEASE),
        replace(WEST, term=2),
        replace(WEST, state=NodeState.DRAINING),
        replace(WEST, state=NodeState.STOPPED),
    ):
        east = replace(EAST, players=400)
        choice = choose(12, ZonePlacement([east, lost], [AT_WEST]), LEASE)
        assert choice is not None
        assert choice.is_new
        assert choice.instead_of == AT_WEST
        assert choice.place.instance == 0
        assert choice.place.node == ("west" if lost.term == 2 else "east")


def test_a_full_instance_is_followed_by_the_next_number() -> None:
    full = [ZonePlace(12, number, "west", 1, full=True) for number in (0, 2)]
    choice = choose(12, ZonePlacement([EAST, WEST], full), LEASE)
    assert choice is not None
    assert (choice.place, choice.instead_of) == (ZonePlace(12, 1, "east", 1), None)
    free = ZonePlace(12, 3, "west", 1)
    choice = choose(12, ZonePlacement([EAST, WEST], [*full, free]), LEASE)
    assert choice is not None
    assert choice.place == free


def test_pinned_zones_go_to_their_node_while_it_lives() -> None:
    pinning = replace(WEST, about=replace(WEST.about, pinned=(12,)))
    assert least_loaded(12, [EAST, pinning]) == pinning
    assert least_loaded(33, [EAST, pinning]) == EAST
    choice = choose(12, ZonePlacement([EAST, replace(pinning, silence=99.0)], []), LEASE)
    assert choice is not None
    assert choice.node == EAST


def test_nodes_without_capacity_run_no_zone() -> None:
    assert choose(12, ZonePlacement([node("login", capacity=0)], []), LEASE) is None
    assert choose(12, ZonePlacement([], []), LEASE) is None


def test_a_drained_node_runs_zones_if_there_is_no_other() -> None:
    only = replace(WEST, state=NodeState.DRAINING)
    choice = choose(12, ZonePlacement([only], [AT_WEST]), LEASE)
    assert choice is not None
    assert (choice.place, choice.is_new) == (AT_WEST, False)
