"""What a page shows of the last hours: logins, log lines, and how many players there were.

All of it is bounded and gone with the process. Knows no page; moments are UTC.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from emu.times import Moment

LOGINS: Final = 200
LINES: Final = 500
MINUTE: Final = 60.0
MINUTES: Final = 24 * 60
_MAYBE_ADDRESS: Final = re.compile(
    r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?!\w|\.\d)|(?<![\w:])[0-9a-fA-F:]*:[0-9a-fA-F:]*:[0-9a-fA-F:.]*\w"
)


@dataclass(frozen=True, slots=True)
class Login:
    """A login that was answered."""

    moment: Moment
    account: str
    client: int
    accepted: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the log."""

    moment: Moment
    level: str
    area: str
    text: str


@dataclass(frozen=True, slots=True)
class Population:
    """How many players there were at most within a minute."""

    moment: Moment
    players: int


def without_addresses(line: str) -> str:
    """Return a line of the log in which nobody's IP address stands; those of the machine itself do.

    Whoever opens the page need not be an administrator.
    """
    return _MAYBE_ADDRESS.sub(_withheld, line)


def _withheld(found: re.Match[str]) -> str:
    try:
        address = ip_address(found[0])
    except ValueError:
        return found[0]
    return found[0] if address.is_loopback or address.is_unspecified else "…"


class Recent:
    """Remembers the last of everything."""

    def __init__(self) -> None:
        self.logins: deque[Login] = deque(maxlen=LOGINS)
        self.lines: deque[Line] = deque(maxlen=LINES)
        self.population: deque[Population] = deque(maxlen=MINUTES)

    def count_players(self, players: int, moment: Moment) -> None:
        """Note how many players there are."""
        minute = Moment(moment - moment % MINUTE)
        last = self.population[-1] if self.population else None
        if last is not None and last.moment == minute:
            self.population[-1] = Population(minute, max(players, last.players))
        else:
            self.population.append(Population(minute, players))
