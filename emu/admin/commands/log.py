"""The command that searches the server's log, also in its older files.

The page of operators shows it. IP addresses and lines about hidden players are left out for
everybody, because a rank is no permission to read files of the machine.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from emu.admin.log_files import NEWEST, LogPage, LogPlace, search_log
from emu.admin.log_lines import LEVELS, LogFilter, LogLine, log_line, without_addresses
from emu.commands import Argument, ArgumentKind, Call, CommandSet, Cost, Reply
from emu.commands.registry import GUIDE
from emu.errors import CommandError
from emu.texts import timestamp
from emu.times import FOR_EVER, UNKNOWN, Moment

MOST: Final = 200
"""Lines of one answer."""
ALL: Final = "all"
ANY: Final = "any"
END: Final = "end"
_PLACE: Final = re.compile(r"(\d{1,20}):(\d{1,20})")


@dataclass(frozen=True, slots=True)
class LogCommandContext:
    """The context of this command.

    `run` carries out a call in a thread. `path` returns the file of the log, None without one:
    then there are only the lines that `memory` returns. `conceals` returns whether a text names a
    hidden player.
    """

    run: Callable[[Callable[[], Any]], Awaitable[Any]]
    path: Callable[[], Path | None]
    memory: Callable[[], Sequence[str]]
    conceals: Callable[[str], bool]


COMMANDS = CommandSet[LogCommandContext]()


@COMMANDS.command(
    "log show", "search the server's log, also its older files",
    Argument("level", help="the least severe level", optional=True, default="info",
             choices=LEVELS),
    Argument("area", help="an area of the server, as world", optional=True, default=ALL),
    Argument("since", help="a date or time in UTC, as 2026-11-28T20:00", optional=True,
             default=ANY),
    Argument("until", help="a date or time in UTC", optional=True, default=ANY),
    Argument("before", help="where an earlier answer ended", optional=True, default=END),
    Argument("word", ArgumentKind.TEXT, "what the text has in it", optional=True, default=""),
    rank=GUIDE, is_quiet=True, without_database=True, cost=Cost.LISTING,
    example="log show warn world",
)  # fmt: skip
async def _show(log: LogCommandContext, call: Call) -> Reply:
    wanted = LogFilter(
        call["level"], "" if call["area"] == ALL else call["area"],
        _moment(call["since"], UNKNOWN), _moment(call["until"], FOR_EVER),
        call["word"],
    )  # fmt: skip
    path = log.path()
    page = await _found(log, path, wanted, _place(call["before"]))
    lines = [
        LogLine(one.moment, one.level, one.area, without_addresses(one.text),
                without_addresses(one.details))
        for one in page.lines if not log.conceals(one.text) and not log.conceals(one.details)
    ]  # fmt: skip
    data = {
        "lines": [
            {"moment": one.moment, "level": one.level, "area": one.area, "text": one.text,
             "details": one.details}
            for one in lines
        ],
        "next": "" if page.next is None else f"{page.next.file}:{page.next.offset}",
        "has_file": path is not None,
    }  # fmt: skip
    shown = tuple(f"{timestamp(one.moment)} {one.level:<5} {one.area}: {one.text}" for one in lines)
    return Reply(shown or ("no line was found",), data)


async def _found(
    log: LogCommandContext, path: Path | None, wanted: LogFilter, place: LogPlace
) -> LogPage:
    if path is None:
        known = filter(None, map(log_line, log.memory()))
        return LogPage([one for one in known if wanted.admits(one)][-MOST:], None)
    try:
        page: LogPage = await log.run(lambda: search_log(path, wanted, place, most=MOST))
    except OSError as error:
        raise CommandError(f"the log cannot be read: {error.strerror}") from None
    return page


def _place(text: str) -> LogPlace:
    found = _PLACE.fullmatch(text)
    if found is None and text != END:
        raise CommandError(f"{text} is no place in the log; {END} is its end")
    return NEWEST if found is None else LogPlace(int(found[1]), int(found[2]))


def _moment(text: str, otherwise: Moment) -> Moment:
    if text == ANY:
        return otherwise
    try:
        moment = datetime.fromisoformat(text)
        return Moment(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp())
    except (ValueError, OverflowError):
        raise CommandError(f"{text} is no date or time; write it as 2026-11-28T20:00") from None
