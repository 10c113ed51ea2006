"""The audit of operators: which uses of commands it keeps, and the command that lists them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from emu.admin.commands.changes import CHANGED_ORIGIN
from emu.audit import AuditedAct, AuditQuestion
from emu.commands import Argument, ArgumentKind, Call, CommandSet, Reply, Use
from emu.commands.registry import MASTER
from emu.texts import timestamp
from emu.times import Moment

SAME: Final = 60.0
"""Seconds within which the same act of the same operator is kept once: a program that steers
creatures moves them several times a second."""
MOST_RECENT: Final = 1000
"""Acts of the last minute that are remembered for that."""
MOST_SHOWN: Final = 100

SUBJECT = Argument(
    "subject", ArgumentKind.TEXT, "what was changed: a kind, a name or both, as account alice",
    optional=True, default="",
)  # fmt: skip


class AuditReader(Protocol):
    """The audit to be read. Raises `StoreError`."""

    async def find(self, question: AuditQuestion) -> Sequence[AuditedAct]:
        """Return the acts that a question chooses, the newest first."""


COMMANDS = CommandSet[AuditReader]()


class Auditor:
    """Decides which uses of commands the audit keeps."""

    def __init__(self, keep: Callable[[AuditedAct], object]) -> None:
        """`keep` is called with each act."""
        self._keep = keep
        self._recent: dict[tuple[object, ...], Moment] = {}
        """When an act was kept, by everything but its time and its answer."""

    def used(self, use: Use, moment: Moment) -> None:
        """Keep a use of a command that changes something, or that was refused."""
        # The emu program stores its own acts, each in the transaction of its change.
        if not use.subject or use.origin == CHANGED_ORIGIN:
            return
        before, after = use.change
        key = (use.caller, use.origin, use.command, use.subject, before, after, use.reason, use.ok)
        if self._is_repeated(key, moment):
            return
        result = use.result.splitlines()[0] if use.result else "done"
        self._keep(
            AuditedAct(
                moment, use.caller, use.origin, use.command, use.subject, before, after, use.reason,
                result, use.ok,
            )
        )  # fmt: skip

    def _is_repeated(self, key: tuple[object, ...], moment: Moment) -> bool:
        """Return whether the same act was kept within `SAME` seconds; note it otherwise."""
        if abs(moment - self._recent.get(key, -SAME)) < SAME:
            return True
        if len(self._recent) >= MOST_RECENT:
            self._recent.clear()
        self._recent[key] = moment
        return False


def row_of(act: AuditedAct) -> dict[str, Any]:
    """Return an act as data for programs."""
    return {**act._asdict(), "moment": timestamp(act.moment)}


def line_of(act: AuditedAct) -> str:
    """Return an act as a line for people."""
    change = f" ({act.before} -> {act.after})" if act.before or act.after else ""
    reason = f", reason: {act.reason}" if act.reason else ""
    refused = "" if act.ok else " refused:"
    return (
        f"{timestamp(act.moment)} {act.who} ({act.way}): {act.command}, {act.subject}{change}"
        f"{reason}:{refused} {act.result}"
    )


@COMMANDS.command(
    "audit", "list what operators have changed, the newest first", SUBJECT, rank=MASTER,
    is_quiet=True, example="audit account alice",
)  # fmt: skip
async def _audit(store: AuditReader, call: Call) -> Reply:
    acts: Sequence[AuditedAct] = await store.find(
        AuditQuestion(subject=call["subject"], limit=MOST_SHOWN)
    )
    lines = [line_of(act) for act in acts] or ["the audit has no such act"]
    return Reply(tuple(lines), [row_of(act) for act in acts])
