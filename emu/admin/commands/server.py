"""Commands to run the server: status, reload, shutdown, snapshot, and those of Source tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from emu.admin.countdown import Countdown
from emu.admin.status import ServerStatus, status_lines
from emu.commands import Argument, ArgumentKind, Call, Command, Registry, Reply
from emu.commands.registry import ADMINISTRATOR, GUIDE, MASTER, OWNER
from emu.errors import CommandError

LONGEST_SHUTDOWN = 86_400

Reload = Callable[[], Awaitable[str]]
"""Reads something anew and says in one line what came of it. Raises `EmuError`."""


@dataclass(frozen=True, slots=True)
class Controls:
    """What these commands work on.

    `status` returns the server as somebody of a rank may know it; `countdown_changed` is called
    when the shutdown that comes is another.
    """

    status: Callable[[int], ServerStatus]
    reloads: Mapping[str, Reload]
    countdown: Countdown
    countdown_changed: Callable[[], None] = lambda: None


def server_commands(controls: Controls) -> list[Command]:
    """Return the commands of this room."""

    async def status(call: Call) -> Reply:
        found = controls.status(call.caller.rank)
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
        Command("status", "show how the server does", status, rank=GUIDE,
                without_database=True),
        Command("reload", "read tables and files anew", reload, (what,), MASTER),
        Command("shutdown", "stop the server after some seconds", shutdown, (seconds,),
                ADMINISTRATOR, without_database=True),
        Command("cancel", "take a shutdown back", cancel, rank=ADMINISTRATOR,
                without_database=True),
    ]  # fmt: skip


RULE = "-" * 14


def source_tool_commands(registry: Registry) -> list[Command]:
    """Return the commands of this room."""

    async def echo(call: Call) -> Reply:
        return Reply((call["text"],), call["text"])

    async def cvarlist(call: Call) -> Reply:
        found = [
            command
            for command in registry.allowed(call.caller)
            if command.name.startswith(call["beginning"].lower())
        ]
        lines = [
            f"{command.name:<24} : cmd      :              : {command.help}" for command in found
        ]
        return Reply(
            ("cvar list", RULE, *lines, RULE, f"{len(found):>3} total convars/concommands"),
            [command.name for command in found],
        )

    text = Argument("text", ArgumentKind.TEXT, optional=True, default="")
    beginning = Argument("beginning", help="how names begin", optional=True, default="")
    return [
        Command("echo", "answer with a text", echo, (text,), GUIDE, is_quiet=True,
                without_database=True),
        Command("cvarlist", "list the commands as Source servers do", cvarlist, (beginning,),
                GUIDE, is_quiet=True, without_database=True),
    ]  # fmt: skip


SNAPSHOT = "snapshot"


def snapshot_commands(snapshot: Callable[[], dict[str, Any]]) -> list[Command]:
    """Return the commands of this room; `snapshot` makes what programs are given."""

    async def run(_call: Call) -> Reply:
        return Reply(("for programs; `emu status` and `emu top` show it",), snapshot())

    return [
        Command(SNAPSHOT, "tell programs all about the server", run, rank=OWNER, is_quiet=True,
                without_database=True),
    ]  # fmt: skip
