"""The views of the operators' pages: commands that change nothing, by the name of their view.

A view is a command with data, so the console and RCON can show the same, and one rank counts for
all ways. Reading keeps no session alive: an open page must not stay signed in for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from emu.admin.web.dashboard import (
    ACCOUNT,
    NUMBER,
    PLAYER,
    TEXT,
    ActionField,
    DashboardAction,
)

ROWS: Final = 500
"""The most rows of a list on a page."""
SUBJECT: Final = ActionField("subject", "a kind, a name or both, as account alice", TEXT, "")
ZONE: Final = ActionField("zone", "number, name or file of a zone")
INSTANCE: Final = ActionField("instance", "which copy of it", NUMBER, "0")
NUMBERED: Final = ActionField("number", "a number", "[0-9]{1,18}")
WHEN: Final = "[0-9T:Z.+-]{4,32}|any"
BEGINNING: Final = ActionField("beginning", "how names begin", default="")
VIEWS: Final[Mapping[str, DashboardAction]] = {
    "player": DashboardAction("player show", "All that is known of a character.", (PLAYER,)),
    "account": DashboardAction("account show", "An account.", (ACCOUNT,)),
    "accounts": DashboardAction("account list", "Accounts.", (
        BEGINNING, ActionField("which", "a state", "all|enabled|banned|disabled|staff", "all"),
    ), most=ROWS),
    "characters": DashboardAction("character list", "The characters of an account.", (ACCOUNT,),
                         most=ROWS),
    "character": DashboardAction("character show", "A character as it is stored.", (PLAYER,)),
    "notes": DashboardAction("note list", "The notes about an account.", (ACCOUNT,)),
    "zones": DashboardAction("zones", "All zones, with their running instances."),
    "ground": DashboardAction("zonemap show", "What stands in a running zone.", (ZONE, INSTANCE)),
    "outline": DashboardAction("zonemap outline", "The ground of a running zone from above.",
                      (ZONE, INSTANCE)),
    "spawn": DashboardAction("zonemap spawn", "A spawn of a running zone.",
                    (ZONE, INSTANCE, NUMBERED)),
    "place": DashboardAction("zonemap place", "A placement of a running zone.",
                    (ZONE, INSTANCE, NUMBERED)),
    "find": DashboardAction("content find", "What the content file names so.", (
        ActionField("subject", "a subject or all", "[a-z]{1,20}"),
        ActionField("word", "a part of a name, or a number", TEXT),
    )),
    "content": DashboardAction("content show", "What the content file has about a number.", (
        ActionField("subject", "a subject", "[a-z]{1,20}"), NUMBERED,
    )),
    "source": DashboardAction("content source", "The source of a script, with its errors.", (
        ActionField("file", "the script", TEXT),
    )),
    "errors": DashboardAction("script errors", "The errors of scripts and behaviors."),
    "log": DashboardAction("log show", "Lines of the server's log.", (
        ActionField("level", "a level", "debug|info|warn|error|critical", "info"),
        ActionField("area", "an area of the server", "[a-z_]{1,40}", "all"),
        ActionField("since", "a date or time", WHEN, "any"),
        ActionField("until", "a date or time", WHEN, "any"),
        ActionField("before", "where an answer ended", "[0-9]{1,20}:[0-9]{1,20}|end", "end"),
        ActionField("word", "what the text has in it", TEXT, ""),
    )),
    "graphs": DashboardAction("graphs", "What the server has measured.", (
        ActionField("span", "hour or day", "hour|day", "hour"),
    )),
    "audit": DashboardAction("audit", "What operators have changed, newest first.", (SUBJECT,)),
    "petitions": DashboardAction("petition list", "Petitions and reports of players.", (
        ActionField("which", "open or closed", "open|closed", default="open"),
    )),
}  # fmt: skip
"""The views by the last component of their path."""
