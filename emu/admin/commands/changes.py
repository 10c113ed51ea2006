"""The console's command by which the `emu` program reports its changes to log and webhook."""

from __future__ import annotations

import json
from typing import Final

from emu.audit import Change
from emu.commands import Argument, ArgumentKind, Call, CommandSet, Registry, Reply, Use
from emu.commands.registry import OWNER, one_line
from emu.errors import CommandError

CHANGED: Final = "changed"
"""The command by which the `emu` program reports a change that it has made in the database."""
CHANGED_ORIGIN: Final = "emu"
"""The origin of such a change, as the log has it; that of commands is the way that they came."""
ACT = Argument(
    "act",
    ArgumentKind.TEXT,
    'a JSON object with the texts "line" and "result", and with those of an act of the audit',
)
DETAILS: Final = ("command", "subject", "before", "after", "reason")
"""The texts of an act of the audit; the `emu` program has stored it with its change."""
COMMANDS = CommandSet[Registry]()


@COMMANDS.command(
    CHANGED, "log a change that the emu program has made; only that program needs it", ACT,
    rank=OWNER, is_quiet=True, without_database=True,
    example='changed {"line": "account unban alice", "result": "alice is not banned"}',
)  # fmt: skip
async def _changed(registry: Registry, call: Call) -> Reply:
    try:
        act = json.loads(call["act"])
    except (ValueError, RecursionError):
        act = None
    match act:
        case {"line": str(line), "result": str(result)}:
            pass
        case _:
            raise CommandError(f"act: {ACT.help} is missing")
    # The caller is the user whose process is at the console's other side: nobody names another.
    command, subject, before, after, reason = (one_line(str(act.get(name, ""))) for name in DETAILS)
    registry.report(
        Use(
            call.caller.name, CHANGED_ORIGIN, one_line(line), one_line(result), True, command,
            subject, Change(before, after), reason,
        )
    )  # fmt: skip
    return Reply(("the log has it",))
