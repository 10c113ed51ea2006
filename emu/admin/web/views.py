"""The views of the operators' pages: commands that change nothing, by the name of their view.

A view is a command with data, so the console and RCON can show the same, and one rank counts for
all ways. Reading keeps no session alive: an open page must not stay signed in for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from emu.admin.web.dashboard import ACCOUNT, PLAYER, TEXT, ActionField, DashboardAction

ROWS: Final = 500
"""The most rows of a list on a page."""
SUBJECT: Final = ActionField("subject", "a kind, a name or both, as account alice", TEXT, "")
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
    "audit": DashboardAction("audit", "What operators have changed, newest first.", (SUBJECT,)),
    "petitions": DashboardAction("petition list", "Petitions and reports of players.", (
        ActionField("which", "open or closed", "open|closed", default="open"),
    )),
}  # fmt: skip
"""The views by the last component of their path."""
