"""Commands to run the server: status, reload, shutdown and cancel."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass

from emu.admin.countdown import Countdown
from emu.admin.source import status_lines
from emu.admin.status import ServerStatus
from emu.commands import Argument, ArgumentKind, Call, Command, Reply
from emu.commands.ranks import ADMINISTRATOR, GUIDE, MASTER
from emu.errors import CommandError

LONGEST_SHUTDOWN = 86_400

Reload = Callable[[], Awaitable[str]]
"""Reads something anew and says in one line what came of it. Raises `EmuError`."""


@dataclass(frozen=True, slots=True)
class Controls:
    """What these commands work on.

    `countdown_changed` is called when the shutdown that comes is another.
    """

    status: Callable[[], ServerStatus]
    reloads: Mapping[str, Reload]
    countdown: Countdown
    countdown_changed: Callable[[], None] = lambda: None


def commands(controls: Controls) -> list[Command]:
    """Return the commands of this room."""

    async def status(_call: Call) -> Reply:
        found = controls.status()
        return Reply(tuple(status_lines(found)), asdict(found))

    async def reload(call: Call) -> Reply:
        names = [call["what"]] if call["what"] != "all" else list(controls.reloads)
        told = {name: await controls.reloads[name]() for name in names}
        return Reply(tuple(f"{name}: {text}" for name, text in told.items()), told)

    async def shutdown(call: Call) -> Reply:
        seconds = call["seconds"]
        if not 0 <= seconds <= LONGEST_SHUTDOWN:
            raise CommandError(f"seconds: must be 0 to {LONGEST_SHUTDOWN}")
        controls.countdown.start(float(seconds), call.now)
        controls.countdown_changed()
        return Reply((f"the server stops in {seconds} seconds; cancel takes that back",))

    async def cancel(_call: Call) -> Reply:
        if not controls.countdown.cancel():
            raise CommandError("no shutdown is coming")
        controls.countdown_changed()
        return Reply(("the server goes on",))

    what = Argument(
        "what", help="what to read anew", optional=True, default="all",
        choices=(*controls.reloads, "all"),
    )  # fmt: skip
    seconds = Argument("seconds", ArgumentKind.NUMBER, "from now", optional=True, default=30)
    return [
        Command("status", "show how the server does", status, rank=GUIDE),
        Command("reload", "read tables and files anew", reload, (what,), MASTER),
        Command("shutdown", "stop the server after some seconds", shutdown, (seconds,),
                ADMINISTRATOR),
        Command("cancel", "take a shutdown back", cancel, rank=ADMINISTRATOR),
    ]  # fmt: skip
