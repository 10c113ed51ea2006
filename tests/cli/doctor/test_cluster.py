"""What the doctor says of a cluster's nodes."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from emu.cli.doctor.cluster import MOST_NAMES, check_cluster, judge_nodes, judge_zones, listed
from emu.cli.doctor.findings import Finding, Level
from emu.cluster.ports import LEASE, NodeAbout, NodeRow, NodeState, ZonePlace
from emu.config import parse
from emu.store import Store
from tests.support.database.engines import run, store_database

ANTONICA = 12


def node(
    name: str,
    state: NodeState = NodeState.UP,
    *,
    version: str = "1.0",
    capacity: int = 100,
    players: int = 0,
    silence: float = 1.0,
    clock_ahead: float = 0.0,
) -> NodeRow:
    about = NodeAbout("192.0.2.1", 9001, version, capacity, clock_ahead=clock_ahead)
    return NodeRow(name, 1, about, state, players, 0, silence)


def faults(found: Iterable[Finding]) -> list[tuple[str, str]]:
    faulty = [one for one in found if one.level is not Level.OK]
    assert all(one.fix for one in faulty)
    return [(str(one.level), one.what) for one in faulty]


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ([], []),
        ([node("east"), node("login", capacity=0)], []),
        ([node("login", capacity=0)], []),
        ([node("east"), node("west", NodeState.STOPPED, silence=900)], []),
        ([node("west", NodeState.STOPPED, silence=900)], []),
        (
            [node("east"), node("west", silence=60)],
            [("warn", "node west is lost: its last beat is 60 seconds old")],
        ),
        (
            [node("east"), node("west", NodeState.DRAINING, players=1)],
            [("warn", "node west is draining: 1 player left")],
        ),
        (
            [node("east", version="1.1"), node("west"), node("north")],
            [("warn", "nodes of different versions: 1.0 (west, north), 1.1 (east)")],
        ),
        (
            [node("east"), node("west", clock_ahead=-90.0)],
            [("fail", "node west takes no zones: its clock is 90 s behind the database's")],
        ),
        (
            [node("east", silence=60)],
            [
                ("warn", "node east is lost: its last beat is 60 seconds old"),
                ("fail", "no node is alive"),
            ],
        ),
        (
            [node("login", capacity=0), node("east", NodeState.STOPPED)],
            [("fail", "no node can take a zone, so nobody can enter one")],
        ),
        (
            [node("east", players=100), node("west", players=130)],
            [("warn", "every node is full: 230 players of 200 on 2 nodes for zones")],
        ),
        ([node("east", players=100), node("west")], []),
    ],
)
def test_faults_of_nodes_are_judged(nodes: list[NodeRow], expected: list[tuple[str, str]]) -> None:
    assert faults(judge_nodes(nodes, LEASE)) == expected


def test_the_zones_without_a_node_are_named_once() -> None:
    places = [ZonePlace(ANTONICA, 0, "east", 1), ZonePlace(ANTONICA, 1, "east", 1)]
    found = judge_zones(places, lambda _id: "Antonica")
    assert faults([found]) == [("warn", "zones without a node: Antonica")]


def test_many_names_are_cut() -> None:
    names = [f"n{number}" for number in range(MOST_NAMES + 3)]
    assert listed(names).endswith(f"n{MOST_NAMES - 1} and 3 more")


def test_a_server_with_a_file_has_no_nodes() -> None:
    assert [*check_cluster(parse({}, []))] == []


def test_the_nodes_of_a_database_are_checked() -> None:
    with store_database() as where:
        config = parse({}, [f"database.url={where}"])
        with Store.open(where) as store:
            nodes = store.world.nodes
            for name in ("east", "west"):
                term = nodes.take_term(name, NodeAbout("192.0.2.1", 9001, "1.0", 100))
                nodes.claim(ZonePlace(ANTONICA, int(name == "west"), name, term), None)
            assert faults(check_cluster(config)) == []
        run(where, "UPDATE nodes SET seen = seen - 60 WHERE name = 'west'")
        [lost, zones] = faults(check_cluster(config))
    assert lost[1].startswith("node west is lost: its last beat is 6")
    assert zones == ("warn", "zones without a node: Antonica")


def test_a_database_that_cannot_be_read_is_reported_by_its_own_check() -> None:
    config = parse({}, ["database.url=postgresql://nobody@127.0.0.1:1/none"])
    assert [*check_cluster(config)] == []
