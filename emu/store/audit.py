"""The audit: acts of operators, bounded by their age."""

from __future__ import annotations

from typing import Any, Final

from emu.audit import LONGEST_TEXT, AuditedAct, AuditQuestion
from emu.store.repository import Repository, changes, name_key, reads
from emu.times import Moment

COLUMNS: Final = (
    "moment", "who", "way", "command", "kind", "name", "name_key", "old_value", "new_value",
    "reason", "result", "ok",
)  # fmt: skip
READ: Final = ", ".join(name for name in COLUMNS if name != "name_key")
OLDEST_AT_ONCE: Final = 2000
"""Rows that one call removes at most."""


class AuditTrail(Repository):
    """The acts of all operators."""

    __slots__ = ()

    @changes
    def add_act(self, act: AuditedAct, oldest: Moment) -> None:
        """Store an act, and remove acts from before `oldest`."""
        row = (
            act.moment, act.who, act.way, act.command, act.kind, act.name, name_key(act.name),
            act.before, act.after, act.reason, act.result, act.ok,
        )  # fmt: skip
        self._insert_many("audit", COLUMNS, [[_cut(value) for value in row]])
        # In portions: the first act after the server has been off for a year must not take long.
        self._run(
            "DELETE FROM audit WHERE id IN"
            " (SELECT id FROM audit WHERE moment < ? ORDER BY moment LIMIT ?)",
            (oldest, OLDEST_AT_ONCE),
        )

    @reads
    def find(self, question: AuditQuestion) -> list[AuditedAct]:
        """Return the acts that a question chooses, the newest first."""
        conditions, values = ["TRUE"], list[Any]()
        for column, wanted in (("who", question.who), ("command", question.command)):
            if wanted:
                # Not LIKE, in which letters of the name could be wildcards.
                conditions.append(f"lower(substr({column}, 1, CAST(? AS INTEGER))) = ?")
                values += [len(wanted), wanted.lower()]
        if question.subject:
            kind, _, name = question.subject.partition(" ")
            conditions.append("(kind = ? AND (? = '' OR name_key = ?) OR name_key = ?)")
            values += [kind.lower(), name, name_key(name), name_key(question.subject)]
        if question.since is not None:
            conditions.append("moment >= ?")
            values.append(question.since)
        chosen = " AND ".join(conditions)
        rows = self._run(
            f"SELECT {READ} FROM audit WHERE {chosen} ORDER BY id DESC LIMIT ?",  # noqa: S608
            (*values, question.limit),
        )
        return [_act(row) for row in rows]


def _cut(value: Any) -> Any:
    return value[:LONGEST_TEXT] if isinstance(value, str) else value


def _act(row: Any) -> AuditedAct:
    return AuditedAct(
        Moment(row["moment"]), row["who"], row["way"], row["command"],
        f"{row['kind']} {row['name']}".strip(), row["old_value"], row["new_value"], row["reason"],
        row["result"], bool(row["ok"]),
    )  # fmt: skip
