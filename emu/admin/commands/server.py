"""Commands that run the server (status, reload, shutdown, snapshot), and those of Source tools.

`Countdown` is the pending shutdown: when it happens, and when it is announced.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from emu.admin.status import ServerStatus, status_lines
from emu.commands import Argument, ArgumentKind, Call, CommandSet, Registry, Reply
from emu.commands.registry import ADMINISTRATOR, GUIDE, MASTER, OWNER
from emu.errors import CommandError, EmuError
from emu.texts import counted
from emu.times import Monotonic

LONGEST_SHUTDOWN = 86_400
MOST_PROBLEMS = 20
"""Problems of one table or folder that ``reload`` shows."""
LONGEST_PROBLEM = 300
"""Characters of one problem there; players see it in the chat window."""

Reload = Callable[[], Awaitable[str]]
"""Reads a table or file again and returns one line about the result, and a line for each problem.

Raises `EmuError` if the previous content stays.
"""


@dataclass(frozen=True, slots=True)
class Controls:
    """The context of these commands.

    `status` returns the server's status as a caller of a rank may see it; `snapshot` returns the
    data of the command of that name; `countdown_changed` is called when the next shutdown changes;
    `publish` notifies the other processes of the world (`RELOAD`, `SHUTDOWN`, `CANCEL`).
    """

    status: Callable[[int], ServerStatus]
    reloads: Mapping[str, Reload]
    countdown: Countdown
    snapshot: Callable[[], dict[str, Any]]
    countdown_changed: Callable[[], None] = lambda: None
    publish: Callable[[str, Mapping[str, str | int]], None] = lambda _topic, _note: None


def _reload_choices(controls: Controls) -> tuple[str, ...]:
    return (*controls.reloads, "all")


def each_once(reloads: Mapping[str, Reload]) -> dict[str, Reload]:
    """Return what is read for `all`: what has two names, by the first of them."""
    names: dict[Reload, str] = {}
    for name, reload in reloads.items():
        names.setdefault(reload, name)
    return {name: reload for reload, name in names.items()}


WHAT = Argument(
    "what", help="what to reload", optional=True, default="all", choices_of=_reload_choices
)
RELOAD: Final = "changed.reload"
"""The topic of a reload that the other processes do too; ``what`` is to be read again."""
SHUTDOWN: Final = "changed.shutdown"
"""The topic of a shutdown of all processes in some ``seconds``."""
CANCEL: Final = "changed.cancel"
"""The topic of its end."""
HERE, ALL = "here", "all"
WHERE = Argument(
    "where", optional=True, default=HERE, choices=(HERE, ALL),
    help="this process, or all processes of the world",
)  # fmt: skip
SECONDS = Argument("seconds", ArgumentKind.NUMBER, "from now", optional=True, default=30)

COMMANDS = CommandSet[Controls]()


@COMMANDS.command("status", "show the state of the server", rank=GUIDE, without_database=True)
async def _status(controls: Controls, call: Call) -> Reply:
    found = controls.status(call.caller.rank)
    return Reply(tuple(status_lines(found)), asdict(found))


@COMMANDS.command(
    "reload",
    "read tables and files again",
    WHAT,
    rank=MASTER,
    changes="server",
    example="reload opcodes",
)
async def _reload(controls: Controls, call: Call) -> Reply:
    names = [call["what"]] if call["what"] != "all" else list(each_once(controls.reloads))
    results: dict[str, str] = {}
    lines: list[str] = []
    is_good = True
    # Each is tried, also after a fault: one broken file must not keep the others old.
    for name in names:
        try:
            results[name] = await controls.reloads[name]()
            lines += _bounded([f"{name}: {line}" for line in results[name].splitlines()])
        except EmuError as error:
            is_good = False
            # Some errors list many problems; the first line alone would hide the others.
            problems = getattr(error, "problems", (str(error),))
            results[name] = "\n".join(problems)
            lines += [f"{name}: not reloaded, as before:", *_bounded(problems)]
    # Also after a fault: the files of another machine may be without it.
    controls.publish(RELOAD, {"what": call["what"]})
    return Reply(tuple(lines), results, is_good)


def _bounded(lines: Sequence[str]) -> list[str]:
    """Return the first lines of a list of problems, each cut, and the number of the others."""
    shown = [
        line if len(line) <= LONGEST_PROBLEM else f"{line[: LONGEST_PROBLEM - 3]}..."
        for line in lines[:MOST_PROBLEMS]
    ]
    left = len(lines) - len(shown)
    return [*shown, f"and {left} more; `emu config check` shows all"] if left else shown


@COMMANDS.command(
    "shutdown", "stop the server after some seconds", SECONDS, WHERE, rank=ADMINISTRATOR,
    changes="server",
    without_database=True, example="shutdown 300 all",
)  # fmt: skip
async def _shutdown(controls: Controls, call: Call) -> Reply:
    seconds = call["seconds"]
    if not 0 <= seconds <= LONGEST_SHUTDOWN:
        raise CommandError(f"seconds: must be 0 to {LONGEST_SHUTDOWN}")
    controls.countdown.start(float(seconds), call.now)
    controls.countdown_changed()
    if call["where"] == ALL:
        controls.publish(SHUTDOWN, {"seconds": seconds})
        return Reply((f"all processes stop in {seconds} seconds; cancel all stops that",))
    return Reply((f"the server stops in {seconds} seconds; cancel stops that",))


@COMMANDS.command(
    "cancel", "cancel a shutdown", WHERE, rank=ADMINISTRATOR,
    changes="server", without_database=True,
    example="cancel all",
)  # fmt: skip
async def _cancel(controls: Controls, call: Call) -> Reply:
    if call["where"] == ALL:
        controls.publish(CANCEL, {})
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
TEXT = Argument("text", ArgumentKind.TEXT, "any text", optional=True, default="")
BEGINNING = Argument("beginning", help="how names begin", optional=True, default="")

SOURCE_COMMANDS = CommandSet[Registry]()


@SOURCE_COMMANDS.command(
    "echo", "answer with a text", TEXT, rank=GUIDE, is_quiet=True, without_database=True,
    example="echo are you there",
)  # fmt: skip
async def _echo(_registry: Registry, call: Call) -> Reply:
    return Reply((call["text"],), call["text"])


@SOURCE_COMMANDS.command(
    "cvarlist", "list the commands as Source servers do", BEGINNING, rank=GUIDE, is_quiet=True,
    without_database=True, example="cvarlist account",
)  # fmt: skip
async def _cvarlist(registry: Registry, call: Call) -> Reply:
    found = [
        command
        for command in registry.allowed(call.caller)
        # Names of commands are in lower case.
        if command.name.startswith(call["beginning"].lower())
    ]
    lines = [f"{command.name:<24} : cmd      :              : {command.help}" for command in found]
    return Reply(
        ("cvar list", RULE, *lines, RULE, f"{len(found):>3} total convars/concommands"),
        [command.name for command in found],
    )


ANNOUNCED: Final = (3600, 1800, 900, 600, 300, 120, 60, 30, 10, 5, 4, 3, 2, 1)
"""Announcements are made so many seconds before the shutdown."""


class Countdown:
    """At most one pending shutdown. `announce` sends a text to all players."""

    def __init__(self, announce: Callable[[str], None], stop: Callable[[], object]) -> None:
        """`stop` is called when the countdown ends."""
        self._announce = announce
        self._stop = stop
        self._end: Monotonic | None = None
        self._left: list[int] = []

    def start(self, seconds: float, now: Monotonic) -> None:
        """Schedule a shutdown in some seconds. It replaces an earlier one."""
        self._end = Monotonic(now + seconds)
        # Announcements that are due already are left out. The text below says the same.
        self._left = [one for one in ANNOUNCED if one < seconds]
        if seconds > 0:
            self._announce(f"The server stops in {spoken(round(seconds))}.")
        # At once: 0 seconds stop the server within this call.
        self.handle_timer(now)

    def cancel(self) -> bool:
        """Cancel the shutdown; return False if there is none."""
        if self._end is None:
            return False
        self._end = None
        self._announce("The shutdown is canceled.")
        return True

    def get_timer(self) -> Monotonic | None:
        """Return the time of the next announcement or of the shutdown, or None."""
        if self._end is None:
            return None
        return Monotonic(self._end - self._left[0]) if self._left else self._end

    def handle_timer(self, now: Monotonic) -> None:
        """Announce or stop. Missed announcements are skipped; only the last due one is made."""
        if self._end is None:
            return
        if now >= self._end:
            # Cleared first, so that `stop` finds no countdown if it asks.
            self._end = None
            self._stop()
            return
        due = None
        while self._left and now >= self._end - self._left[0]:
            due = self._left.pop(0)
        if due is not None:
            self._announce(f"The server stops in {spoken(due)}.")


def spoken(seconds: int) -> str:
    """Return a duration as a text for players, for instance "5 minutes"."""
    for size, name in ((3600, "hour"), (60, "minute")):
        if seconds >= size and seconds % size == 0:
            return counted(seconds // size, name)
    return counted(seconds, "second")
