"""Commands that run the server (status, reload, shutdown, snapshot), and those of Source tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from emu.admin.countdown import Countdown
from emu.admin.status import ServerStatus, status_lines
from emu.commands import Argument, ArgumentKind, Call, CommandSet, Registry, Reply
from emu.commands.registry import ADMINISTRATOR, GUIDE, MASTER, OWNER
from emu.errors import CommandError

LONGEST_SHUTDOWN = 86_400

Reload = Callable[[], Awaitable[str]]
"""Reads a table or file again and returns one line about the result. Raises `EmuError`."""


@dataclass(frozen=True, slots=True)
class Controls:
    """The context of these commands.

    `status` returns the server's status as a caller of a rank may see it; `snapshot` returns the
    data of the command of that name; `countdown_changed` is called when the next shutdown changes.
    """

    status: Callable[[int], ServerStatus]
    reloads: Mapping[str, Reload]
    countdown: Countdown
    snapshot: Callable[[], dict[str, Any]]
    countdown_changed: Callable[[], None] = lambda: None


def _reload_choices(controls: Controls) -> tuple[str, ...]:
    return (*controls.reloads, "all")


WHAT = Argument(
    "what", help="what to reload", optional=True, default="all", choices_of=_reload_choices
)
SECONDS = Argument("seconds", ArgumentKind.NUMBER, "from now", optional=True, default=30)

COMMANDS = CommandSet[Controls]()


@COMMANDS.command("status", "show the state of the server", rank=GUIDE, without_database=True)
async def _status(controls: Controls, call: Call) -> Reply:
    found = controls.status(call.caller.rank)
    return Reply(tuple(status_lines(found)), asdict(found))


@COMMANDS.command(
    "reload", "read tables and files again", WHAT, rank=MASTER, example="reload opcodes"
)
async def _reload(controls: Controls, call: Call) -> Reply:
    names = [call["what"]] if call["what"] != "all" else list(controls.reloads)
    results = {name: await controls.reloads[name]() for name in names}
    return Reply(tuple(f"{name}: {text}" for name, text in results.items()), results)


@COMMANDS.command(
    "shutdown", "stop the server after some seconds", SECONDS, rank=ADMINISTRATOR,
    without_database=True, example="shutdown 300",
)  # fmt: skip
async def _shutdown(controls: Controls, call: Call) -> Reply:
    seconds = call["seconds"]
    if not 0 <= seconds <= LONGEST_SHUTDOWN:
        raise CommandError(f"seconds: must be 0 to {LONGEST_SHUTDOWN}")
    controls.countdown.start(float(seconds), call.now)
    controls.countdown_changed()
    return Reply((f"the server stops in {seconds} seconds; cancel stops that",))


@COMMANDS.command("cancel", "cancel a shutdown", rank=ADMINISTRATOR, without_database=True)
async def _cancel(controls: Controls, _call: Call) -> Reply:
    if not controls.countdown.cancel():
        raise CommandError("no shutdown is scheduled")
    controls.countdown_changed()
    return Reply(("the shutdown is canceled",))


SNAPSHOT = "snapshot"


@COMMANDS.command(
    SNAPSHOT, "show the server's whole state as data for programs", rank=OWNER, is_quiet=True,
    without_database=True,
)  # fmt: skip
async def _snapshot(controls: Controls, _call: Call) -> Reply:
    return Reply(("for programs; `emu status` and `emu top` show it",), controls.snapshot())


RULE = "-" * 14
TEXT = Argument("text", ArgumentKind.TEXT, optional=True, default="")
BEGINNING = Argument("beginning", help="how names begin", optional=True, default="")

SOURCE_COMMANDS = CommandSet[Registry]()


@SOURCE_COMMANDS.command(
    "echo", "answer with a text", TEXT, rank=GUIDE, is_quiet=True, without_database=True
)
async def _echo(_registry: Registry, call: Call) -> Reply:
    return Reply((call["text"],), call["text"])


@SOURCE_COMMANDS.command(
    "cvarlist", "list the commands as Source servers do", BEGINNING, rank=GUIDE, is_quiet=True,
    without_database=True,
)  # fmt: skip
async def _cvarlist(registry: Registry, call: Call) -> Reply:
    found = [
        command
        for command in registry.allowed(call.caller)
        if command.name.startswith(call["beginning"].lower())
    ]
    lines = [f"{command.name:<24} : cmd      :              : {command.help}" for command in found]
    return Reply(
        ("cvar list", RULE, *lines, RULE, f"{len(found):>3} total convars/concommands"),
        [command.name for command in found],
    )
