"""Every use of a command in the log: who, from where, what, and what came of it."""

from __future__ import annotations

from collections.abc import Callable

from twisted.logger import Logger

from emu.commands import Use


def report_use(log: Logger) -> Callable[[Use], None]:
    """Return the commands' `told` port."""

    def write(use: Use) -> None:
        log.info(
            "command of {who} ({origin}): {command}: {result}",
            who=use.caller, origin=use.origin, command=use.line, ok=use.ok,
            result=use.result.splitlines()[0] if use.result else "done",
        )  # fmt: skip

    return write
