"""Checks of a cluster's nodes: lost and draining ones, clocks, versions, zones without a node."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

from emu.cli.doctor.findings import Finding, fail, ok, warn
from emu.cluster.placement import load
from emu.cluster.ports import (
    NodeRow,
    NodeState,
    ZonePlace,
    clock_text,
    contents_text,
    odd_contents,
)
from emu.config import Config
from emu.database import ServerUrl
from emu.errors import EmuError
from emu.store import Store
from emu.texts import counted
from emu.world.population.atlas import read_atlas

CLUSTER: Final = "cluster"
MOST_NAMES: Final = 10
"""Maximum number of names in one finding."""


def check_cluster(config: Config) -> Iterator[Finding]:
    """Check the nodes that share the database; a SQLite file has none."""
    where, lease = config.database.url, config.node.lease
    if not isinstance(where, ServerUrl):
        return
    try:
        with Store.open_for_reading(where) as store:
            nodes, places = store.world.nodes.nodes(), store.world.nodes.abandoned(lease)
    except EmuError:
        # The check of the database reports why it cannot be read.
        return
    yield from judge_nodes(nodes, lease)
    if places:
        yield judge_zones(places, zone_names(config))


def zone_names(config: Config) -> Callable[[int], str]:
    """Return what gives the name of a zone by its id; its id if the zones cannot be read."""
    try:
        atlas = read_atlas(config.world.zones, config.world.content)
    except EmuError:
        return str

    def name_of(zone_id: int) -> str:
        found = atlas.get(zone_id)
        return str(zone_id) if found is None else found.name

    return name_of


def judge_nodes(nodes: Sequence[NodeRow], lease: float) -> Iterator[Finding]:
    """Judge the nodes as the database has them."""
    running = [node for node in nodes if node.state is not NodeState.STOPPED]
    alive = [node for node in running if node.is_alive(lease)]
    for node in running:
        if node not in alive:
            what = f"node {node.name} is lost: its last beat is {node.silence:.0f} seconds old"
            yield warn(CLUSTER, what, f"start it, or remove it: emu node forget {node.name}")
        elif node.state is NodeState.DRAINING:
            what = f"node {node.name} is draining: {counted(node.players, 'player')} left"
            fix = f"stop it when it is empty, or end the drain: emu node resume {node.name}"
            yield warn(CLUSTER, what, fix)
    if not alive:
        if running:
            yield fail(CLUSTER, "no node is alive", "start one, and read its log")
        else:
            yield ok(CLUSTER, "no node runs")
        return
    yield ok(CLUSTER, f"{counted(len(alive), 'node')} alive: {listed(one.name for one in alive)}")
    for node in alive:
        if not node.is_clock_right:
            ahead = clock_text(node.about.clock_ahead)
            what = f"node {node.name} takes no zones: its clock is {ahead}"
            yield fail(CLUSTER, what, "set the clock of its machine: timedatectl set-ntp true")
    yield judge_versions(alive)
    if contents := odd_contents(alive):
        yield warn(
            CLUSTER, f"nodes serve different content files: {contents_text(contents)}",
            "copy one file to all nodes, and type `reload content` (docs/guides/content.md)",
        )  # fmt: skip
    # Login nodes alone are no fault: their worlds may have databases of their own.
    if any(node.about.capacity for node in nodes):
        yield judge_capacity(alive)


def judge_versions(alive: Sequence[NodeRow]) -> Finding:
    """Judge the versions of the nodes that are alive."""
    names: dict[str, list[str]] = {}
    for node in alive:
        names.setdefault(node.about.version, []).append(node.name)
    found = [f"{version} ({listed(of)})" for version, of in sorted(names.items())]
    if len(found) == 1:
        return ok(CLUSTER, f"version {found[0]}")
    return warn(
        CLUSTER, f"nodes of different versions: {', '.join(found)}",
        "upgrade the older ones: drain, stop, install, start (docs/guides/cluster.md)",
    )  # fmt: skip


def judge_capacity(alive: Sequence[NodeRow]) -> Finding:
    """Judge whether nodes can take players, and whether they have places for more."""
    takers = [
        node
        for node in alive
        if node.state is NodeState.UP and node.about.capacity and node.is_clock_right
    ]  # as `emu.cluster.placement.choose` counts them
    if not takers:
        return fail(
            CLUSTER, "no node can take a zone, so nobody can enter one",
            "start a node with node.capacity above 0, end a drain (emu node resume NODE), or set a"
            " wrong clock",
        )  # fmt: skip
    players = sum(node.players for node in takers)
    places = sum(node.about.capacity for node in takers)
    text = f"{counted(players, 'player')} of {places} on {counted(len(takers), 'node')} for zones"
    if min(load(node) for node in takers) >= 1:
        return warn(CLUSTER, f"every node is full: {text}", "start another node")
    return ok(CLUSTER, text)


def judge_zones(places: Sequence[ZonePlace], name_of: Callable[[int], str]) -> Finding:
    """Judge the zone instances whose node is not alive."""
    names = sorted({name_of(one.zone_id) for one in places})
    return warn(
        CLUSTER, f"zones without a node: {listed(names)}",
        "start their node; else another one runs each when a player enters it",
    )  # fmt: skip


def listed(names: Collection[str] | Iterator[str]) -> str:
    """Return names in one line, at most `MOST_NAMES` of them."""
    every = [*names]
    more = len(every) - MOST_NAMES
    return ", ".join(every[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
