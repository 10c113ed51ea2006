"""The public status: what everybody may know about a running server, as page, JSON and badge.

It has the name of the server, whether it is up, counts of players, worlds and open zones, and
nothing else: no name of a player or account, no address and no reason. Hidden players are not in
the counts. All three forms are made from one snapshot, at most every `FRESH` seconds, so that a
request costs no more than sending prepared bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from hashlib import sha256
from html import escape
from string import Template
from typing import Any, Final

from emu.admin.status import ListedWorldStatus, ServerStatus, ZoneStatus
from emu.texts import counted, timestamp
from emu.times import Clock, Moment, Monotonic

FRESH: Final = 5.0
"""Seconds for which a snapshot is kept; clients may keep an answer as long."""
MOST_ROWS: Final = 200
"""Maximum number of worlds and of zones in a snapshot."""


class PublicForm(Enum):
    """The forms of the public status, by the last component of their paths."""

    PAGE = "status"
    JSON = "status.json"
    BADGE = "status.svg"


class ServerCondition(Enum):
    """Whether players can enter; the values are the words on page and badge."""

    UP = "up"
    LOCKED = "locked"
    DOWN = "not ready"


@dataclass(frozen=True, slots=True)
class OpenZone:
    """All running instances of one zone."""

    name: str
    players: int
    instances: int


@dataclass(frozen=True, slots=True)
class PublicStatus:
    """The facts that everybody may know; all three forms contain nothing else."""

    name: str
    game: str
    condition: ServerCondition
    since: str
    """The start of the server in UTC, like ``2026-11-21T20:33:07Z``."""
    players: int
    places: int
    """Maximum number of players; 0 for no limit."""
    worlds: tuple[ListedWorldStatus, ...]
    zones: tuple[OpenZone, ...]


def public_status(status: ServerStatus, started: Moment, *, is_ready: bool) -> PublicStatus:
    """Return the public facts of a status without hidden players."""
    condition = ServerCondition.UP
    if not is_ready:
        condition = ServerCondition.DOWN
    elif status.locked:
        condition = ServerCondition.LOCKED
    return PublicStatus(
        status.name,
        status.game,
        condition,
        timestamp(started),
        status.online,
        status.places,
        status.worlds[:MOST_ROWS],
        open_zones(status.zones),
    )


def open_zones(zones: Iterable[ZoneStatus]) -> tuple[OpenZone, ...]:
    """Return the running zones, the one with the most players first."""
    found: dict[str, OpenZone] = {}
    for zone in zones:
        # All instances of a zone are one row: players know the zone, not its instances.
        before = found.get(zone.name, OpenZone(zone.name, 0, 0))
        found[zone.name] = OpenZone(zone.name, before.players + zone.players, before.instances + 1)
    # The name decides ties, so that the page does not change its order without a reason.
    ordered = sorted(found.values(), key=lambda zone: (-zone.players, zone.name.casefold()))
    return tuple(ordered[:MOST_ROWS])


def status_json(status: PublicStatus) -> dict[str, Any]:
    """Return the value of ``/status.json``."""
    return {
        "name": status.name,
        "game": status.game,
        "up": status.condition is not ServerCondition.DOWN,
        "locked": status.condition is ServerCondition.LOCKED,
        "since": status.since,
        "players": status.players,
        "places": status.places,
        "worlds": [asdict(world) for world in status.worlds],
        "zones": [asdict(zone) for zone in status.zones],
    }


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link at the end of the page."""

    path: str
    text: str


LINKS: Final = (
    PageLink(PublicForm.JSON.value, "Status as JSON"),
    PageLink(PublicForm.BADGE.value, "Badge"),
)
CONDITION_CLASSES: Final = {
    ServerCondition.UP: "good",
    ServerCondition.LOCKED: "bad",
    ServerCondition.DOWN: "bad",
}
EXPLAINED: Final = {
    ServerCondition.UP: "Players can enter.",
    ServerCondition.LOCKED: "Only game masters can enter now.",
    ServerCondition.DOWN: "The server runs, but players cannot enter yet.",
}


def status_page(status: PublicStatus, template: Template, links: Sequence[PageLink]) -> str:
    """Return the page; names become text, never markup."""
    up = sum(world.up for world in status.worlds)
    # Without seconds, for people; the attribute has the exact time.
    shown_since = status.since.replace("T", " ").removesuffix("Z")[:16]
    return template.substitute(
        name=escape(status.name),
        game=escape(status.game),
        condition=status.condition.value,
        condition_class=CONDITION_CLASSES[status.condition],
        explained=EXPLAINED[status.condition],
        players=status.players,
        places=f"of {status.places}" if status.places else "online",
        worlds=up,
        worlds_known=f"of {len(status.worlds)} up",
        zones=len(status.zones),
        since=escape(status.since),
        shown_since=shown_since,
        world_rows=_rows((_world_row(one) for one in status.worlds), 3, "No world is registered."),
        zone_rows=_rows((_zone_row(one) for one in status.zones), 2, "No zone is open."),
        links=link_list([*links, *LINKS]),
    )


def link_list(links: Iterable[PageLink]) -> str:
    """Return links as HTML."""
    return " · ".join(f'<a href="{escape(one.path)}">{escape(one.text)}</a>' for one in links)


def _rows(rows: Iterable[str], columns: int, empty: str) -> str:
    return "\n".join(rows) or f'<tr><td class="empty" colspan="{columns}">{empty}</td></tr>'


def _world_row(world: ListedWorldStatus) -> str:
    state, kind = ("up", "good") if world.up else ("down", "bad")
    if world.up and world.locked:
        state, kind = "locked", "bad"
    return (
        f'<tr><td><bdi>{escape(world.name)}</bdi></td><td class="{kind}">{state}</td>'
        f'<td class="number">{world.players}</td></tr>'
    )


def _zone_row(zone: OpenZone) -> str:
    times = ""
    if zone.instances > 1:
        times = f' <span class="note">({zone.instances} instances)</span>'
    return (
        f"<tr><td><bdi>{escape(zone.name)}</bdi>{times}</td>"
        f'<td class="number">{zone.players}</td></tr>'
    )


LONGEST_LABEL: Final = 24
LETTER: Final = 6.8
LETTERS: Final = dict.fromkeys("fijlrt.,:;'|!()[] ", 4.2) | dict.fromkeys("mwMWQ@%", 9.8)
"""Widths of narrow and wide letters of the badge, in pixels; `textLength` corrects the rest."""
PADDING: Final = 12
COLORS: Final = {
    ServerCondition.UP: "#1f6f4f",
    ServerCondition.LOCKED: "#8a5a00",
    ServerCondition.DOWN: "#a3262a",
}
"""Colors on which white text has a contrast of at least 4.5 to 1."""
BADGE: Final = Template(
    '<svg xmlns="http://www.w3.org/2000/svg" width="$width" height="20" role="img"'
    ' aria-label="$label: $value"><title>$label: $value</title>'
    '<clipPath id="r"><rect width="$width" height="20" rx="3"/></clipPath>'
    '<g clip-path="url(#r)"><rect width="$left" height="20" fill="#3d4440"/>'
    '<rect x="$left" width="$right" height="20" fill="$color"/></g>'
    '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"'
    ' text-anchor="middle">'
    '<text x="$label_x" y="14" textLength="$label_width">$label</text>'
    '<text x="$value_x" y="14" textLength="$value_width">$value</text></g></svg>\n'
)


def status_badge(status: PublicStatus) -> str:
    """Return the badge, an SVG image: the server's name, and its players or condition."""
    # Control characters are not valid in SVG.
    label = "".join(letter if letter.isprintable() else " " for letter in status.name).strip()
    label = label or "server"
    if len(label) > LONGEST_LABEL:
        label = label[: LONGEST_LABEL - 1] + "\N{HORIZONTAL ELLIPSIS}"
    value = status.condition.value
    if status.condition is ServerCondition.UP:
        value = counted(status.players, "player")
    # Widths are estimated, because the server has no fonts.
    label_width, value_width = (
        round(sum(LETTERS.get(letter, LETTER) for letter in text)) for text in (label, value)
    )
    left, right = label_width + PADDING, value_width + PADDING
    return BADGE.substitute(
        label=escape(label), value=escape(value), color=COLORS[status.condition],
        width=left + right, left=left, right=right,
        label_width=label_width, value_width=value_width,
        label_x=left / 2, value_x=left + right / 2,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class PublicAnswer:
    """One form of a snapshot, ready to be sent."""

    body: bytes
    etag: bytes
    """The strong validator of the body, in quotes."""


class PublicSource:
    """Makes the forms of the public status and keeps them for `FRESH` seconds."""

    def __init__(
        self,
        status: Callable[[], ServerStatus],
        missing: Callable[[], str],
        clock: Clock,
        template: str,
    ) -> None:
        """`status` and `missing` are those of the web endpoint; `template` is status.html."""
        self._status = status
        self._missing = missing
        self._clock = clock
        self._template = Template(template)
        self._since: Monotonic | None = None
        self._started = Moment(0.0)
        self._taken = Monotonic(0.0)
        self._answers: dict[PublicForm, PublicAnswer] = {}
        self.links: Sequence[PageLink] = ()
        """Links to other pages of this server; a change counts from the next snapshot on."""

    def answer(self, form: PublicForm) -> PublicAnswer:
        """Return one form of a snapshot that is at most `FRESH` seconds old."""
        now = self._clock.now()
        if not self._answers or not 0 <= now - self._taken < FRESH:
            self._taken = now
            self._answers = self._made()
        return self._answers[form]

    def _made(self) -> dict[PublicForm, PublicAnswer]:
        status = self._status()
        if self._since != status.since:
            # Kept, because the difference of two clocks varies by some milliseconds.
            self._since = status.since
            self._started = Moment(self._clock.moment() - status.uptime)
        public = public_status(status, self._started, is_ready=not self._missing())
        texts = {
            PublicForm.PAGE: status_page(public, self._template, self.links),
            PublicForm.JSON: json.dumps(status_json(public), separators=(",", ":")),
            PublicForm.BADGE: status_badge(public),
        }
        return {form: _answer_of(text.encode("utf-8", "replace")) for form, text in texts.items()}


def _answer_of(body: bytes) -> PublicAnswer:
    return PublicAnswer(body, b'"%s"' % sha256(body).hexdigest()[:24].encode())
