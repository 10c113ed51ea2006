"""Every use of a command in the log: who, from where, what, and what came of it.

What somebody wants again and again and is not given is told once and summed up, so that no player
can fill the log with it.
"""

from __future__ import annotations

from collections.abc import Callable

from twisted.logger import Logger

from emu.commands import Use
from emu.net.refusals import RefusalLog

LONGEST_REASON = 120


def report_use(log: Logger, refusals: RefusalLog) -> Callable[[Use], None]:
    """Return the commands' `told` port."""

    def write(use: Use) -> None:
        result = use.result.splitlines()[0] if use.result else "done"
        who = f"{use.caller} ({use.origin})"
        if not use.ok and not refusals.is_news(
            "commands not done", "", who, result[:LONGEST_REASON]
        ):
            return
        log.info(
            "command of {who} ({origin}): {command}: {result}",
            who=use.caller, origin=use.origin, command=use.line, ok=use.ok, result=result,
        )  # fmt: skip

    return write
