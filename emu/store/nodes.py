"""The nodes of a cluster, their zone instances and leases, in the database.

Whether a node is alive is decided by the database's clock alone. Each change is one statement that
checks its condition itself, so that two nodes that change the same row agree on the result.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, Final

from emu.cluster.ports import (
    Beat,
    LeaseRow,
    NodeAbout,
    NodeRow,
    NodeState,
    ZonePlace,
    ZonePlacement,
)
from emu.store.repository import Repository, asks, change, changes, changes_ahead, reads

NOW: Final = "clock()"
"""What stands for the time of the database in the statements here."""
ALIVE: Final = (
    "nodes.name = held.node AND nodes.term = held.node_term"
    " AND nodes.state <> 'stopped' AND clock() - nodes.seen < :lease"
)
"""The condition that the holder of a row `held` is alive."""
NODES: Final = """
    SELECT nodes.name, nodes.term, nodes.host, nodes.port, nodes.version, nodes.capacity,
        nodes.pinned, nodes.content, nodes.clock_ahead, nodes.state, nodes.players,
        coalesce(counts.instances, 0) AS instances,
        clock() - nodes.seen AS silence, nodes.leaving
    FROM nodes
    LEFT JOIN (
        SELECT node, node_term, count(*) AS instances FROM zone_servers GROUP BY node, node_term
    ) AS counts ON counts.node = nodes.name AND counts.node_term = nodes.term
    ORDER BY nodes.name
"""
PLACES: Final = "SELECT zone_id, instance, node, node_term, is_full FROM zone_servers AS held"
HELD: Final = f"{PLACES} WHERE EXISTS (SELECT 1 FROM nodes WHERE {ALIVE})"  # noqa: S608  # our own condition
ABANDONED: Final = f"{PLACES} WHERE NOT EXISTS (SELECT 1 FROM nodes WHERE {ALIVE})"  # noqa: S608  # our own condition
LEASES: Final = f"""
    SELECT name, node, node_term FROM leases AS held
    WHERE EXISTS (SELECT 1 FROM nodes WHERE {ALIVE}) ORDER BY name
"""  # noqa: S608  # our own condition


class NodeTable(Repository):
    """The tables ``nodes``, ``zone_servers`` and ``leases``."""

    __slots__ = ()

    @changes_ahead
    def take_term(
        self, name: str, about: NodeAbout, state: NodeState | None = None
    ) -> Generator[None, None, int]:
        """Give a node a new term; see `emu.cluster.ports.NodeStore`."""
        row = self._timed(
            # The first term is the time: a node that was forgotten gets none of its old ones.
            "INSERT INTO nodes"
            " (name, term, host, port, version, capacity, pinned, content, clock_ahead, state,"
            " players, seen)"
            " VALUES (:name, CAST(clock() * 1000 AS BIGINT), :host, :port, :version, :capacity,"
            " :pinned, :content, :clock_ahead, coalesce(:state, 'up'), 0, clock())"
            " ON CONFLICT (name) DO UPDATE SET term = nodes.term + 1, host = excluded.host,"
            " port = excluded.port, version = excluded.version, capacity = excluded.capacity,"
            " pinned = excluded.pinned, content = excluded.content,"
            " clock_ahead = excluded.clock_ahead,"
            " state = coalesce(:state, nodes.state), players = 0, leaving = '',"
            " seen = excluded.seen RETURNING term",
            {
                "name": name, "host": about.host, "port": about.port, "version": about.version,
                "capacity": about.capacity, "pinned": ",".join(map(str, about.pinned)),
                "content": about.content, "clock_ahead": about.clock_ahead,
                "state": None if state is None else str(state),
            },
        )  # fmt: skip
        found = self.database.after(row)
        self._drop_held(name)
        yield
        ((term,),) = found
        return int(term)

    @changes_ahead
    def beat(
        self, name: str, term: int, players: int, lease: float
    ) -> Generator[None, None, Beat | None]:
        """Record that a node lives; None if it was away."""
        found = self._timed(
            "UPDATE nodes SET seen = clock(), players = :players"
            " WHERE name = :name AND term = :term AND state <> 'stopped'"
            " AND clock() - seen < :lease RETURNING clock()",
            {"name": name, "term": term, "players": players, "lease": lease},
        )
        found, held, nodes, leases = map(
            self.database.after,
            (
                found,
                self._run(f"{PLACES} WHERE node = ? AND node_term = ?", (name, term)),
                self._timed(NODES),
                self._timed(LEASES, {"lease": lease}),
            ),
        )
        yield
        alive = list(found)
        if not alive:
            return None
        return Beat(
            [_node(*row) for row in nodes], [_place(row) for row in held],
            [LeaseRow(*row) for row in leases], float(alive[0][0]),
        )  # fmt: skip

    @change
    def set_content(self, name: str, digest: str) -> None:
        """Record which content file a node serves from now on."""
        self._run("UPDATE nodes SET content = ? WHERE name = ?", (digest, name))

    @change
    def set_clock(self, name: str, ahead: float) -> None:
        """Record how far the clock of a node is off."""
        self._run("UPDATE nodes SET clock_ahead = ? WHERE name = ?", (ahead, name))

    @change
    def set_leaving(self, name: str, leaving: Sequence[tuple[int, int]]) -> None:
        """Record which instances a node still runs that were placed elsewhere."""
        text = ",".join(f"{zone_id}:{instance}" for zone_id, instance in leaving)
        self._run("UPDATE nodes SET leaving = ? WHERE name = ?", (text, name))

    @reads
    def moment(self) -> float:
        """Return the time of the database, in seconds since 1970."""
        return float(self._timed("SELECT clock() AS moment").fetchone()[0])

    @changes
    def leave(self, name: str, term: int) -> None:
        """Record that a node stops, if the term is its last one."""
        found = self._run(
            "UPDATE nodes SET state = 'stopped', players = 0 WHERE name = ? AND term = ?"
            " RETURNING term",
            (name, term),
        ).fetchone()
        if found is not None:
            self._drop_held(name)

    @reads
    def nodes(self) -> Sequence[NodeRow]:
        """Return all nodes by name."""
        return self._nodes()

    @change
    def set_state(self, name: str, state: NodeState) -> bool:
        """Set the state of a node that has not stopped; return whether there is one."""
        found = self._run(
            "UPDATE nodes SET state = ? WHERE name = ? AND state <> 'stopped' RETURNING term",
            (str(state), name),
        )
        return found.fetchone() is not None

    @changes
    def forget(self, name: str, lease: float) -> bool:
        """Remove a node that is not alive; return whether it was removed."""
        found = self._timed(
            "DELETE FROM nodes WHERE name = ? AND (state = 'stopped' OR clock() - seen >= ?)"
            " RETURNING term",
            (name, lease),
        ).fetchone()
        if found is not None:
            self._drop_held(name)
        return found is not None

    @asks
    def placement(self, zone_id: int) -> Generator[None, None, ZonePlacement]:
        """Return what the node of a zone is chosen from."""
        # A row that changes in between is noticed by `claim`.
        rows = self._after(f"{PLACES} WHERE zone_id = ? ORDER BY instance", (zone_id,))
        nodes = self.database.after(self._timed(NODES))
        yield
        return ZonePlacement([_node(*row) for row in nodes], [_place(row) for row in rows])

    @reads
    def places(self, lease: float) -> Sequence[ZonePlace]:
        """Return the zone instances of nodes that are alive."""
        rows = self._timed(f"{HELD} ORDER BY zone_id, instance", {"lease": lease})
        return [_place(row) for row in rows]

    @reads
    def abandoned(self, lease: float) -> Sequence[ZonePlace]:
        """Return the zone instances of nodes that are not alive, which no other node has taken."""
        rows = self._timed(f"{ABANDONED} ORDER BY zone_id, instance", {"lease": lease})
        return [_place(row) for row in rows]

    @change
    def claim(self, place: ZonePlace, instead_of: ZonePlace | None) -> bool:
        """Place a zone instance on a node, if its row is as in `instead_of`."""
        key = place.zone_id, place.instance
        if instead_of is None:
            found = self._run(
                "INSERT INTO zone_servers (zone_id, instance, node, node_term, is_full)"
                " VALUES (?, ?, ?, ?, FALSE) ON CONFLICT DO NOTHING RETURNING zone_id",
                (*key, place.node, place.node_term),
            )
        else:
            found = self._run(
                "UPDATE zone_servers SET node = ?, node_term = ?, is_full = FALSE"
                " WHERE zone_id = ? AND instance = ? AND node = ? AND node_term = ?"
                " RETURNING zone_id",
                (place.node, place.node_term, *key, instead_of.node, instead_of.node_term),
            )
        return found.fetchone() is not None

    @change
    def mark_full(self, place: ZonePlace) -> None:
        """Store whether an instance is full, if that node and term hold it."""
        self._run(
            "UPDATE zone_servers SET is_full = ?"
            " WHERE zone_id = ? AND instance = ? AND node = ? AND node_term = ?",
            (place.full, place.zone_id, place.instance, place.node, place.node_term),
        )

    @change
    def release(self, place: ZonePlace) -> None:
        """Remove an instance that has ended, if that node and term hold it."""
        self._run(
            "DELETE FROM zone_servers"
            " WHERE zone_id = ? AND instance = ? AND node = ? AND node_term = ?",
            (place.zone_id, place.instance, place.node, place.node_term),
        )

    @change
    def hold_lease(self, name: str, node: str, term: int, lease: float) -> bool:
        """Take or keep a lease; return False if another node that is alive holds it."""
        found = self._timed(
            "INSERT INTO leases (name, node, node_term)"
            " SELECT :name, nodes.name, nodes.term FROM nodes"
            " WHERE nodes.name = :node AND nodes.term = :term AND nodes.state <> 'stopped'"
            " AND clock() - nodes.seen < :lease"
            " ON CONFLICT (name) DO UPDATE SET node = excluded.node,"
            " node_term = excluded.node_term WHERE leases.node = excluded.node"
            " OR NOT EXISTS (SELECT 1 FROM nodes AS holder WHERE holder.name = leases.node"
            " AND holder.term = leases.node_term AND holder.state <> 'stopped'"
            " AND clock() - holder.seen < :lease) RETURNING node",
            {"name": name, "node": node, "term": term, "lease": lease},
        )
        return found.fetchone() is not None

    @change
    def release_lease(self, name: str, node: str, term: int) -> None:
        """Give up a lease, if that node and term hold it."""
        self._run(
            "DELETE FROM leases WHERE name = ? AND node = ? AND node_term = ?", (name, node, term)
        )

    @reads
    def leases(self, lease: float) -> Sequence[LeaseRow]:
        """Return the leases whose holders are alive."""
        return self._leases(lease)

    def _timed(self, sql: str, values: Any = ()) -> Any:
        """Carry out a statement that uses the time of the database."""
        return self._run(sql.replace(NOW, self.database.dialect.clock), values)

    def _leases(self, lease: float) -> list[LeaseRow]:
        rows = self._timed(LEASES, {"lease": lease})
        return [LeaseRow(*row) for row in rows]

    def _nodes(self) -> list[NodeRow]:
        return [_node(*row) for row in self._timed(NODES)]

    def _drop_held(self, name: str) -> None:
        """Remove everything that a node holds."""
        for table in ("zone_servers", "leases"):
            self._run(f"DELETE FROM {table} WHERE node = ?", (name,))  # noqa: S608  # our own names


def _node(name: str, term: int, *rest: Any) -> NodeRow:
    host, port, version, capacity, pinned, content, ahead, state, players, *more = rest
    instances, silence, leaving = more
    zones = tuple(int(one) for one in pinned.split(",") if one)
    about = NodeAbout(host, port, version, capacity, zones, content, float(ahead))
    return NodeRow(
        name, term, about, NodeState(state), players, instances, float(silence), _pairs(leaving)
    )


def _pairs(text: str) -> tuple[tuple[int, int], ...]:
    """Return zone and number of each instance in the column `leaving`."""
    found = (one.partition(":") for one in text.split(",") if one)
    return tuple((int(zone_id), int(instance)) for zone_id, _, instance in found)


def _place(row: Any) -> ZonePlace:
    zone_id, instance, node, node_term, is_full = row
    return ZonePlace(zone_id, instance, node, node_term, bool(is_full))
