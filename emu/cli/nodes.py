"""`emu node` and `emu zone`: the nodes of a cluster, and the zones that they run.

The commands change the database, from any machine that reaches it; the nodes take notice at their
next beat.
"""

from __future__ import annotations

import math
import time

import click

from emu.admin.commands.nodes import state_of
from emu.cli.common import VerbGroup, acting, change_store, load_config, read_store
from emu.cli.console_socket import ConsoleSocket
from emu.cli.tables import Row, format_option, print_record, print_rows
from emu.cluster.placement import load
from emu.cluster.ports import NodeRow, NodeState, ZonePlace, ZonePlacement, clock_text
from emu.errors import CommandError
from emu.limits.addresses import host_port
from emu.store import Store
from emu.store.nodes import NodeTable
from emu.texts import counted
from emu.world.population.atlas import read_atlas
from emu.world.zones.definitions import Atlas, ZoneDefinition

COLUMNS = (
    "name",
    "state",
    "players",
    "capacity",
    "zones",
    "load",
    "address",
    "version",
    "content",
    "clock",
    "seen",
)
PAUSE = 0.5
"""Seconds between two questions while a drain is waited for."""


@click.group(cls=VerbGroup)
def node() -> None:
    """Manage the nodes of a cluster: list, show, drain, resume, forget.

    A node is one server process; all nodes of a world share its PostgreSQL database. NODE is the
    name in its setting node.name.

    Example: emu node list
    """


@node.command("list")
@format_option
def list_nodes(style: str) -> None:
    """List all nodes with their players and zones.

    Example: emu node list --format json
    """
    lease = load_config().node.lease
    with read_store() as store:
        rows = [_row(one, lease) for one in store.world.nodes.nodes()]
    print_rows(rows, style, COLUMNS, least=("content", "version", "seen", "clock", "address"))


@node.command()
@click.argument("node")
@format_option
def show(node: str, style: str) -> None:
    """Show one node with the zones and leases that it holds.

    Example: emu node show east
    """
    config = load_config()
    with read_store() as store:
        table = store.world.nodes
        found = _find(table, node)
        places = [one for one in table.places(config.node.lease) if one.node == found.name]
        leases = [one.name for one in table.leases(config.node.lease) if one.node == found.name]
    atlas = read_atlas(config.world.zones, config.world.content)
    zones: list[Row] = [
        {"name": _name_of(atlas, one.zone_id), "instance": one.instance} for one in places
    ]
    record = {
        **_row(found, config.node.lease),
        "term": found.term,
        "pinned": ", ".join(_name_of(atlas, zone_id) for zone_id in found.about.pinned),
        "running": ", ".join(f"{one['name']} {one['instance'] or ''}".rstrip() for one in zones),
        "leases": ", ".join(leases),
    }
    print_record(record, style, structured={"running": zones})


@node.command()
@click.argument("node")
@click.option(
    "--wait", type=click.FloatRange(min=0), default=0.0, metavar="SECONDS",
    help="Wait until all players have left it, and fail if some are left after this time.",
)  # fmt: skip
def drain(node: str, wait: float) -> None:
    """Send all players of a node to the others, and give it no more zones.

    Each player loads its zone once and stands where it stood. The node goes on running; stop it
    when it is empty. `emu node resume` undoes this.

    Example: emu node drain east --wait 60
    """
    with change_store() as store:
        _check_alive(store, node)
        with acting(store, f"node {node}", f"{node} is draining", after="draining"):
            store.world.nodes.set_state(node, NodeState.DRAINING)
        others = _takers(store, besides=node)
    if not others:
        click.echo("no other node can take the players; start one", err=True)
    left = _players(node)
    for _ in range(math.ceil(wait / PAUSE)):
        if not left:
            break
        time.sleep(PAUSE)
        left = _players(node)
    if left and wait:
        raise CommandError(f"{counted(left, 'player')} still on {node} after {wait:g} seconds")
    state = "is empty" if not left else f"sends {counted(left, 'player')} away"
    click.echo(f"{node} is draining and {state}", err=True)


@node.command()
@click.argument("node")
def resume(node: str) -> None:
    """End the drain of a node: it gets zones and players again.

    Example: emu node resume east
    """
    with change_store() as store:
        _check_alive(store, node)
        with acting(store, f"node {node}", f"{node} is up", after="up"):
            store.world.nodes.set_state(node, NodeState.UP)


@node.command()
@click.argument("node")
def forget(node: str) -> None:
    """Remove a node that runs no more from the list.

    Example: emu node forget north
    """
    lease = load_config().node.lease
    with change_store() as store:
        found = _find(store.world.nodes, node)
        with acting(store, f"node {node}", f"{node} is forgotten"):
            if not store.world.nodes.forget(found.name, lease):
                raise CommandError(f"{node} is alive; stop it first")


@click.group(cls=VerbGroup)
def zone() -> None:
    """Manage the zones of a cluster: list, move. Save a recording of a running zone.

    ZONE is a zone's name for players, its file or its number.

    Example: emu zone list
    """


@zone.command("list")
@format_option
def list_zones(style: str) -> None:
    """List the zone instances with the nodes that run them.

    While a zone moves, it has two lines: it is "leaving" the node that still runs it with the
    players who stand there, and "arriving" at the other one, which gets its new players.

    Example: emu zone list --format csv
    """
    config = load_config()
    with read_store() as store:
        places = store.world.nodes.places(config.node.lease)
        alive = [one for one in store.world.nodes.nodes() if one.is_alive(config.node.lease)]
    leaving = [ZonePlace(*key, one.name, one.term) for one in alive for key in one.leaving]
    moving = {(one.zone_id, one.instance) for one in leaving}
    atlas = read_atlas(config.world.zones, config.world.content)
    rows: list[Row] = [
        {
            "name": _name_of(atlas, one.zone_id), "id": one.zone_id, "instance": one.instance,
            "node": one.node, "full": one.full, "state": state,
        }
        for one, state in [
            *((one, "leaving") for one in leaving),
            *(
                (one, "arriving" if (one.zone_id, one.instance) in moving else "placed")
                for one in places
            ),
        ]
    ]  # fmt: skip
    rows.sort(key=lambda row: (row["id"], row["instance"]))  # stable: "leaving" comes first
    print_rows(rows, style, ("name", "id", "instance", "node", "full", "state"))


@zone.command()
@click.argument("zone")
@click.option("--private", is_flag=True, help="With texts between players and addresses.")
def record(zone: str, *, private: bool) -> None:
    """Save the last minutes of a zone of the running server to a file, for `emu replay`.

    The server keeps them if world.record is true.

    Example: emu zone record Antonica
    """
    with ConsoleSocket(load_config().console_path) as console:
        reply = console.run(f'zone record "{zone}" {"on" if private else "off"}')
    if not reply.ok:
        raise CommandError(reply.text)
    click.echo(reply.text)


@zone.command()
@click.argument("zone")
@click.argument("node")
@click.option("--instance", type=click.IntRange(min=0), default=0, help="Which of its instances.")
def move(zone: str, node: str, instance: int) -> None:
    """Move a zone to another node, with its players.

    Each player loads the zone once. A zone that does not run starts on that node when a player
    enters it within two minutes.

    Example: emu zone move antonica west
    """
    config = load_config()
    definition = _zone(read_atlas(config.world.zones, config.world.content), zone)
    with change_store() as store:
        nodes = store.world.nodes
        target = _check_alive(store, node)
        if not target.about.capacity:
            raise CommandError(f"{node} runs no zones: its node.capacity is 0")
        if target.state is not NodeState.UP:
            raise CommandError(f"{node} is {target.state}; emu node resume {node} ends that")
        if not target.is_clock_right:
            ahead = clock_text(target.about.clock_ahead)
            raise CommandError(f"{node} takes no zones: its clock is {ahead}")
        found = nodes.placement(definition.id)
        before = next((one for one in found.places if one.instance == instance), None)
        there = ZonePlace(definition.id, instance, target.name, target.term)
        if before is not None and (before.node, before.node_term) == (there.node, there.node_term):
            raise CommandError(f"{definition.name} runs on {node} already")
        with acting(
            store, f"zone {definition.name}", f"{definition.name} moves to {node}",
            before=before.node if before is not None else "", after=node,
        ):  # fmt: skip
            if not nodes.claim(there, before):
                raise CommandError(f"{definition.name} was placed by a node just now; try again")
            _note_leaving(nodes, found, there, before)


def _note_leaving(
    nodes: NodeTable, found: ZonePlacement, there: ZonePlace, before: ZonePlace | None
) -> None:
    """Record that a moved instance still runs where it was; that node corrects it at its beat."""
    key = (there.zone_id, there.instance)
    for row in found.nodes:
        if before is not None and (row.name, row.term) == (before.node, before.node_term):
            nodes.set_leaving(row.name, sorted({*row.leaving, key}))
        elif row.name == there.node and key in row.leaving:
            nodes.set_leaving(row.name, sorted({*row.leaving} - {key}))


def _row(one: NodeRow, lease: float) -> Row:
    about = one.about
    return {
        "name": one.name,
        "state": state_of(one, lease),
        "players": one.players,
        "capacity": about.capacity,
        "zones": one.instances,
        "load": round(load(one), 2),
        "address": host_port(about.host, about.port) if about.host else "",
        "version": about.version,
        "content": about.content,
        "clock": "right" if one.is_clock_right else clock_text(about.clock_ahead),
        "seen": f"{one.silence:.0f} s ago",
    }


def _find(table: NodeTable, name: str) -> NodeRow:
    found = next((one for one in table.nodes() if one.name == name), None)
    if found is None:
        raise CommandError(f"there is no node {name}; emu node list shows all")
    return found


def _players(name: str) -> int:
    with read_store() as store:
        return _find(store.world.nodes, name).players


def _check_alive(store: Store, name: str) -> NodeRow:
    found = _find(store.world.nodes, name)
    if not found.is_alive(load_config().node.lease):
        raise CommandError(f"{name} does not run; emu node list shows which do")
    return found


def _takers(store: Store, *, besides: str) -> list[str]:
    """Return the nodes that can take zones, but one."""
    lease = load_config().node.lease
    return [
        one.name
        for one in store.world.nodes.nodes()
        if one.name != besides
        and one.is_alive(lease)
        and one.about.capacity
        and one.state is NodeState.UP
        and one.is_clock_right
    ]


def _zone(atlas: Atlas, name: str) -> ZoneDefinition:
    found = atlas.named(name)
    if found is None:
        raise CommandError(f"there is no zone {name}")
    return found


def _name_of(atlas: Atlas, zone_id: int) -> str:
    found = atlas.get(zone_id)
    return str(zone_id) if found is None else found.name
