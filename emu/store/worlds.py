"""Repositories of registered worlds, model numbers, client logs and bug reports."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from emu.errors import DuplicateName
from emu.model import BUILT_IN_ACCOUNT, ClientLog
from emu.store.repository import Repository, changes, check_name, name_key, reads, saves
from emu.times import UNKNOWN, Moment
from emu.worlds import RegisteredWorld, ZoneDescription

_FIELDS = tuple(field.name for field in fields(RegisteredWorld))
_COLUMNS = ", ".join(f"worlds.{name}" for name in _FIELDS)
MOST_ZONES = 4096
"""Stored zones of one world; further ones are skipped, so that a world cannot fill the disk."""


@dataclass(frozen=True, slots=True)
class WorldReport:
    """A world with its latest status, for operators."""

    world: RegisteredWorld
    status: int
    players: int
    zones: int
    updated: Moment | None
    last_connected: Moment | None
    created: Moment


_REPORTED = tuple(field.name for field in fields(WorldReport))[1:]


class WorldRepository(Repository):
    """Registered worlds, their latest status, and their zones."""

    @reads
    def find_by_account(self, account: str) -> RegisteredWorld | None:
        """Return the world with this account name, compared without case."""
        return self._one("account_key = ?", name_key(account))

    @reads
    def find(self, name: str) -> RegisteredWorld | None:
        """Return the world with this name, compared without case."""
        return self._one("name_key = ?", name_key(name))

    @reads
    def get(self, world_id: int) -> RegisteredWorld | None:
        """Return the world with this id."""
        return self._one("id = ?", world_id)

    @reads
    def reports(self) -> list[WorldReport]:
        """Return all worlds by id, each with its latest status (-4 if it never reported one)."""
        rows = self._run(
            f"SELECT {_COLUMNS}, worlds.last_connected, worlds.created,"  # noqa: S608
            " coalesce(status, -4) AS status, coalesce(players, 0) AS players,"
            " coalesce(zones, 0) AS zones, updated FROM worlds"
            " LEFT JOIN world_stats ON world_stats.world_id = worlds.id ORDER BY worlds.id"
        )
        return [WorldReport(_world(row), *(row[name] for name in _REPORTED)) for row in rows]

    @changes
    def add(self, world: RegisteredWorld, created: Moment = UNKNOWN) -> RegisteredWorld:
        """Add a world with all values, and with its id unless that is 0.

        Raises `DuplicateName`.
        """
        check_name(world.name)
        # The queries give each refusal its own text; the unique columns would give one.
        if self.find(world.name) is not None:
            raise DuplicateName(f"there is already a world {world.name!r}")
        if self.find_by_account(world.account) is not None:
            raise DuplicateName(f"another world registers with the account {world.account!r}")
        derived = {
            "name_key": name_key(world.name),
            "account_key": name_key(world.account),
            "created": created,
        }
        return replace(world, id=self._insert("worlds", asdict(world) | derived))

    @changes
    def put_built_in(self, name: str, password: str, moment: Moment) -> RegisteredWorld:
        """Add the built-in world, or change its name and its password's hash.

        Raises `DuplicateName` if another world has the name.
        """
        named = self.find(name)
        if named is not None and named.account != BUILT_IN_ACCOUNT:
            raise DuplicateName(
                f"world.name: another registered world has the name {name!r}; set another name,"
                " continue the characters of that world here (`emu account import-eq2emu --world`),"
                " or remove it with `emu world remove`"
            )
        # Found by its account: its name is a setting and may have changed.
        own = self.find_by_account(BUILT_IN_ACCOUNT)
        if own is None:
            return self.add(RegisteredWorld(0, name, BUILT_IN_ACCOUNT, password), moment)
        self.set_password(own.id, password)
        self.rename(own.id, name)
        return replace(own, name=name, password=password)

    @changes
    def set_password(self, world_id: int, password: str) -> None:
        """Replace the link password's hash."""
        self._set("worlds", world_id, password=password)

    @changes
    def rename(self, world_id: int, name: str) -> None:
        """Rename a world. Raises `DuplicateName` if another world has the name."""
        other = self.find(name)
        if other is not None and other.id != world_id:
            raise DuplicateName(f"there is already a world {name!r}")
        self._set("worlds", world_id, name=name, name_key=name_key(name))

    @changes
    def set_enabled(self, world_id: int, enabled: bool) -> None:
        """Enable or disable the registration of a world."""
        self._set("worlds", world_id, enabled=enabled)

    @changes
    def connected(self, world_id: int, address: str, version: str, moment: Moment) -> None:
        """Store address, program version and time of a world's registration."""
        changed = {"last_address": address, "login_version": version, "last_connected": moment}
        self._set("worlds", world_id, **changed)

    @changes
    def record_status(
        self,
        world_id: int,
        status: int,
        players: int,
        zones: int,
        moment: Moment,
    ) -> None:
        """Store a world's status report, unless the world was removed."""
        # The row of the world is read in the same statement, so a removed world gets no status.
        self._run(
            "INSERT INTO world_stats (world_id, status, players, zones, updated)"
            " SELECT id, ?, ?, ?, ? FROM worlds WHERE id = ?"
            " ON CONFLICT (world_id) DO UPDATE SET status = excluded.status,"
            " players = excluded.players, zones = excluded.zones, updated = excluded.updated",
            (status, players, zones, moment, world_id),
        )

    @changes
    def set_zones(self, world_id: int, zones: Sequence[ZoneDescription]) -> None:
        """Store zone names and descriptions of one world, replacing those of known zones."""
        rows = self._run("SELECT zone_id FROM world_zones WHERE world_id = ?", (world_id,))
        known = {row["zone_id"] for row in rows}
        for zone in zones:
            # A hostile world could otherwise fill the database with zones that do not exist.
            if zone.zone_id in known or len(known) < MOST_ZONES:
                known.add(zone.zone_id)
                self._run(
                    "INSERT INTO world_zones (world_id, zone_id, name, description)"
                    " SELECT id, ?, ?, ? FROM worlds WHERE id = ? ON CONFLICT (world_id, zone_id)"
                    " DO UPDATE SET name = excluded.name, description = excluded.description",
                    (zone.zone_id, zone.name, zone.description, world_id),
                )

    @changes
    def add_zone(self, world_id: int, zone: ZoneDescription) -> bool:
        """Store a zone unless its world has it; return True if it is new."""
        return self._insert_new("world_zones", {"world_id": world_id, **asdict(zone)})

    @reads
    def zones_of(self, world_id: int) -> list[ZoneDescription]:
        """Return the zones of a world, by id."""
        rows = self._run(
            "SELECT zone_id, name, description FROM world_zones WHERE world_id = ?"
            " ORDER BY zone_id",
            (world_id,),
        )
        return [ZoneDescription(*row) for row in rows]

    @changes
    def remove(self, world_id: int) -> None:
        """Remove a world, its reports, and the rows of its characters."""
        # The characters refer to the world, so they go first.
        self._run("DELETE FROM characters WHERE world_id = ?", (world_id,))
        self._run("DELETE FROM worlds WHERE id = ?", (world_id,))

    def _one(self, condition: str, value: str | int) -> RegisteredWorld | None:
        row = self._run(f"SELECT {_COLUMNS} FROM worlds WHERE {condition}", (value,)).fetchone()  # noqa: S608
        return _world(row) if row else None


def _world(row: Any) -> RegisteredWorld:
    values = {name: row[name] for name in _FIELDS}
    return RegisteredWorld(**values | {"enabled": bool(row["enabled"])})


class ModelNumbers(Repository):
    """Model numbers by path."""

    @reads
    def numbers(self, paths: Collection[str]) -> dict[str, int]:
        """Return the numbers of the known paths; paths are in lower case."""
        chosen, values = self._among("path", paths)
        rows = self._run(f"SELECT path, number FROM models WHERE {chosen}", (values,))  # noqa: S608
        return {path: number for path, number in rows}  # noqa: C416  # rows, not pairs

    @changes
    def add(self, path: str, number: int) -> bool:
        """Store a model unless its path is known; return True if it is new."""
        return self._insert_new("models", {"path": path, "number": number})


LOGS_OF_ACCOUNT = 10
"""Client logs kept of one account; the oldest are removed."""
MOST_LOGS = 500
"""Client logs kept in total; each has up to 256 KiB."""
REPORTS_OF_WORLD = 5_000
"""Bug reports kept of one world; each has up to 2.5 KiB."""

TEXT_FIELDS = (
    "player", "category", "subcategory", "causes_crash", "reproducible", "summary",
    "description", "version", "spawn_name",
)  # fmt: skip
NUMBER_FIELDS = ("spawn_id", "zone_id")


class ReportRepository(Repository):
    """Client logs and bug reports."""

    def add_client_log(self, log: ClientLog) -> None:
        """Store a client log, and remove the oldest ones above the limits."""
        self.add_client_logs([(log,)])

    @saves
    def add_client_logs(self, logs: Sequence[tuple[ClientLog]]) -> Sequence[Exception | None]:
        """Do what `add_client_log` does for several; return None for each."""
        self._run_many(
            "INSERT INTO client_logs (kind, text, account_id, account_name, address,"
            " client_version, received)"
            # The inner SELECT stores NULL for an account that was removed meanwhile, instead of
            # failing.
            " VALUES (?, ?, (SELECT id FROM accounts WHERE id = ?), ?, ?, ?, ?)",
            [
                (
                    log.kind, log.text, log.account_id, log.account_name, log.address,
                    log.client_version, log.received,
                )
                for (log,) in logs
            ],
        )  # fmt: skip
        # The limit of the account first, so that one account cannot push out the logs of the
        # others.
        chosen, ids = self._among("account_id", {log.account_id for (log,) in logs})
        full = self._run(
            f"SELECT account_id FROM client_logs WHERE {chosen}"  # noqa: S608  # our own names
            " GROUP BY account_id HAVING count(*) > ?",
            (ids, LOGS_OF_ACCOUNT),
        ).fetchall()
        for (account_id,) in full:
            self._keep_newest("client_logs", "account_id = ?", (account_id,), LOGS_OF_ACCOUNT)
        self._keep_newest("client_logs", "TRUE", (), MOST_LOGS)
        return [None] * len(logs)

    @reads
    def client_logs(self) -> list[ClientLog]:
        """Return all client logs, oldest first; the account id is 0 if the account was removed."""
        rows = self._run(
            "SELECT kind, text, coalesce(account_id, 0) AS account_id, account_name, address,"
            " client_version, received FROM client_logs ORDER BY id"
        )
        return [ClientLog(**dict(row)) for row in rows]

    @changes
    def add_bug_report(
        self,
        world_id: int,
        account_id: int,
        fields: Mapping[str, str | int],
        received: Moment,
    ) -> None:
        """Store a bug report; `fields`: those of the link's BugReport, missing ones are empty."""
        values: dict[str, Any] = {name: str(fields.get(name, "")) for name in TEXT_FIELDS}
        values |= {name: int(fields.get(name, 0)) for name in NUMBER_FIELDS}
        names = ", ".join(values)
        marks = ", ".join("?" * len(values))
        # A world that was removed meanwhile becomes NULL.
        self._run(
            f"INSERT INTO bug_reports (world_id, account_id, received, {names})"  # noqa: S608
            f" VALUES ((SELECT id FROM worlds WHERE id = ?), ?, ?, {marks})",
            (world_id, account_id, received, *values.values()),
        )
        self._keep_newest("bug_reports", "world_id = ?", (world_id,), REPORTS_OF_WORLD)

    @reads
    def bug_reports(self) -> list[dict[str, Any]]:
        """Return all bug reports, oldest first, as column -> value."""
        names = ", ".join(
            ("id", "world_id", "account_id", *TEXT_FIELDS, *NUMBER_FIELDS, "received")
        )
        rows = self._run(f"SELECT {names} FROM bug_reports ORDER BY id")  # noqa: S608
        return [dict(row) for row in rows]

    def _keep_newest(self, table: str, condition: str, values: tuple[int, ...], most: int) -> None:
        """Remove the oldest of these rows above a number.

        Every login calls this, so the rows are first counted in an index. A query with an offset
        would read thousands of long rows.
        """
        chosen = f"SELECT id FROM {table} WHERE {condition} ORDER BY id LIMIT ?"  # noqa: S608
        found = self._run(f"SELECT count(*) FROM {table} WHERE {condition}", values)  # noqa: S608
        too_many = found.fetchone()[0] - most
        if too_many > 0:
            self._run(
                f"DELETE FROM {table} WHERE id IN ({chosen})",  # noqa: S608
                (*values, too_many),
            )
