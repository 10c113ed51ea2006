"""Rows of client logs and bug reports. They come from strangers, so their number is bounded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from emu.model import ClientLog
from emu.store.repository import Repository, changes, reads
from emu.times import Moment

LOGS_OF_ACCOUNT = 10
"""Client logs kept of one account; the oldest go."""
MOST_LOGS = 500
"""Client logs kept altogether; each has up to 256 KiB."""
REPORTS_OF_WORLD = 5_000
"""Bug reports kept of one world; each has up to 2.5 KiB."""

TEXT_FIELDS = (
    "player", "category", "subcategory", "causes_crash", "reproducible", "summary",
    "description", "version", "spawn_name",
)  # fmt: skip
NUMBER_FIELDS = ("spawn_id", "zone_id")


class Reports(Repository):
    """Client logs and bug reports."""

    @changes
    def add_client_log(self, log: ClientLog) -> None:
        """Store one client log, and drop the oldest ones over the limits."""
        self._run(
            "INSERT INTO client_logs (kind, text, account_id, account_name, address,"
            " client_version, received)"
            " VALUES (?, ?, (SELECT id FROM accounts WHERE id = ?), ?, ?, ?, ?)",
            (
                log.kind,
                log.text,
                log.account_id,
                log.account_name,
                log.address,
                log.client_version,
                log.received,
            ),
        )
        self._keep_newest("client_logs", "account_id = ?", (log.account_id,), LOGS_OF_ACCOUNT)
        self._keep_newest("client_logs", "true", (), MOST_LOGS)

    @reads
    def client_logs(self) -> list[ClientLog]:
        """Return all client logs, oldest first; account id 0 when the account is gone."""
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
        """Store one bug report; `fields` are those of the link's BugReport, missing ones empty."""
        values: dict[str, Any] = {name: str(fields.get(name, "")) for name in TEXT_FIELDS}
        values |= {name: int(fields.get(name, 0)) for name in NUMBER_FIELDS}
        names = ", ".join(values)
        marks = ", ".join("?" * len(values))
        self._run(
            f"INSERT INTO bug_reports (world_id, account_id, received, {names})"  # noqa: S608
            f" VALUES ((SELECT id FROM worlds WHERE id = ?), ?, ?, {marks})",
            (world_id, account_id, received, *values.values()),
        )
        self._keep_newest("bug_reports", "world_id = ?", (world_id,), REPORTS_OF_WORLD)

    @reads
    def bug_reports(self) -> list[dict[str, Any]]:
        """Return all bug reports, oldest first, as mappings of columns."""
        return [dict(row) for row in self._run("SELECT * FROM bug_reports ORDER BY id")]

    def _keep_newest(self, table: str, condition: str, values: tuple[int, ...], most: int) -> None:
        """Drop the oldest of some rows when there are too many of them.

        They are counted first, in an index: every login comes by here, and to find the row at an
        offset SQLite would walk through thousands of long ones.
        """
        chosen = f"SELECT id FROM {table} WHERE {condition} ORDER BY id LIMIT ?"  # noqa: S608
        found = self._run(f"SELECT count(*) FROM {table} WHERE {condition}", values)  # noqa: S608
        too_many = found.fetchone()[0] - most
        if too_many > 0:
            self._run(
                f"DELETE FROM {table} WHERE id IN ({chosen})",  # noqa: S608
                (*values, too_many),
            )
