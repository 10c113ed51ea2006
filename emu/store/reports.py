"""Rows of client logs and bug reports. They come from strangers, so their number is bounded."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from emu.login.ports import ClientLog

LOGS_OF_ACCOUNT = 50
"""Client logs kept of one account; the oldest go."""
MOST_LOGS = 5_000
"""Client logs kept altogether."""
REPORTS_OF_WORLD = 5_000
"""Bug reports kept of one world."""

TEXT_FIELDS = (
    "player", "category", "subcategory", "causes_crash", "reproducible", "summary",
    "description", "version", "spawn_name",
)  # fmt: skip
NUMBER_FIELDS = ("spawn_id", "zone_id")


def add_client_log(connection: sqlite3.Connection, log: ClientLog) -> None:
    """Store one client log, and drop the oldest ones over the limits."""
    connection.execute(
        "INSERT INTO client_logs (kind, text, account_id, account_name, address, client_version,"
        " received) VALUES (?, ?, (SELECT id FROM accounts WHERE id = ?), ?, ?, ?, ?)",
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
    connection.execute(
        "DELETE FROM client_logs WHERE account_id = ? AND id <="
        " (SELECT id FROM client_logs WHERE account_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?)",
        (log.account_id, log.account_id, LOGS_OF_ACCOUNT),
    )
    connection.execute(
        "DELETE FROM client_logs WHERE id <="
        " (SELECT id FROM client_logs ORDER BY id DESC LIMIT 1 OFFSET ?)",
        (MOST_LOGS,),
    )


def client_logs(connection: sqlite3.Connection) -> list[ClientLog]:
    """Return all client logs, oldest first; account id 0 when the account is gone."""
    rows = connection.execute(
        "SELECT kind, text, coalesce(account_id, 0) AS account_id, account_name, address,"
        " client_version, received FROM client_logs ORDER BY id"
    )
    return [ClientLog(**dict(row)) for row in rows]


def add_bug_report(
    connection: sqlite3.Connection,
    world_id: int,
    account_id: int,
    fields: Mapping[str, str | int],
    received: float,
) -> None:
    """Store one bug report; `fields` are those of the link's BugReport, missing ones empty."""
    values: dict[str, Any] = {name: str(fields.get(name, "")) for name in TEXT_FIELDS}
    values |= {name: int(fields.get(name, 0)) for name in NUMBER_FIELDS}
    names = ", ".join(values)
    marks = ", ".join("?" * len(values))
    connection.execute(
        f"INSERT INTO bug_reports (world_id, account_id, received, {names})"  # noqa: S608
        f" VALUES ((SELECT id FROM worlds WHERE id = ?), ?, ?, {marks})",
        (world_id, account_id, received, *values.values()),
    )
    connection.execute(
        "DELETE FROM bug_reports WHERE world_id = ? AND id <="
        " (SELECT id FROM bug_reports WHERE world_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?)",
        (world_id, world_id, REPORTS_OF_WORLD),
    )


def bug_reports(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    """Return all bug reports, oldest first, as mappings of columns."""
    return [dict(row) for row in connection.execute("SELECT * FROM bug_reports ORDER BY id")]
