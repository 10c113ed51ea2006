"""What happens to a client in the world: lines for a person, plain values for a program."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from emu.client.events import Closed, Unexpected
from emu.client.world import events
from emu.client.world.core import WorldClient
from emu.client.world.surroundings import Seen, place_of
from emu.client.world.walking import Place
from emu.sight.changes import changed_fields
from emu.sight.forms import INFO, POSITION
from emu.sight.ghosts import PART_NAMES


def as_lines(event: events.WorldEvent, core: WorldClient) -> Iterator[str]:
    """Yield what a person is told of an event, nothing for one that changes nothing to be seen."""
    match event:
        case events.Updated():
            yield from _changes(event, core)
        case events.DialogOpened(_, title, text, choices):
            yield f"{title}: {text}"
            yield from (f"  {number}. {choice}" for number, choice in enumerate(choices, 1))
        case events.WhoListed(players):
            yield f"{len(players)} player{'' if len(players) == 1 else 's'}"
            yield from (f"  {name}, level {level}, {zone}" for name, level, zone in players)
        case _:
            yield _line(event, core)


def as_records(event: events.WorldEvent, core: WorldClient) -> Iterator[dict[str, Any]]:
    """Yield an event as values that JSON can hold: `event`, and its fields.

    Of an update each ghost's changed fields are told: ghost, name, part, fields.
    """
    if not isinstance(event, events.Updated):
        yield {"event": type(event).__name__} | dataclasses.asdict(event)
        return
    seen = core.surroundings
    for entry in event.entries:
        if seen is None or entry.now is None or entry.before is None:
            continue
        now, before = (seen.part_fields(entry.part, one) for one in (entry.now, entry.before))
        yield {
            "event": "Updated",
            "ghost": entry.ghost,
            "name": seen.name(entry.ghost),
            "part": PART_NAMES[entry.part],
            "fields": changed_fields(before, now),
        }


def seen_line(seen: Seen) -> str:
    """Return one line: name, level, place, and how far it is."""
    level = f" (level {seen.level})" if seen.level else ""
    return f"{seen.distance:7.1f}  {seen.name}{level}  at {place_text(seen.place)}"


def place_text(place: Place) -> str:
    """Return a place as people write it."""
    return f"{place.x:.2f}, {place.y:.2f}, {place.z:.2f}"


def _line(event: events.WorldEvent, core: WorldClient) -> str:
    match event:
        case events.ZoneTold(file, description, character):
            return f"{character} enters {description} ({file})"
        case events.Stood():
            return f"you stand at {place_text(core.place)}"
        case events.Refused(code, text):
            return f"the world refuses you: {text} (code {code})"
        case events.Appeared(index, name):
            own = " (you)" if index == core.own_index else ""
            return f"+ {name or 'something'}{own}{_where(core, index)}"
        case events.Vanished(_, name):
            return f"- {name or 'something'}"
        case events.Heard(channel, speaker, to, text, channel_name):
            return f"[{channel_name or channel}] {speaker}{f' to {to}' if to else ''}: {text}"
        case events.LineShown(color, text):
            return text if color == "system" else f"({color}) {text}"
        case events.ScreenShown(text):
            return f"*** {text} ***"
        case events.ChannelTold(action, channel, player):
            return f"{player} {action} {channel}".strip()
        case events.ChannelMembers(channel, players):
            return f"{channel}: {', '.join(players)}"
        case events.CampBegun(seconds):
            return f"you camp: {seconds} seconds to go"
        case events.CampStopped():
            return "you camp no more"
        case events.PutSomewhere(x, y, z):
            return f"you are put at {place_text(Place(x, y, z))}"
        case events.ZoneLeft(host, port):
            return f"on the way to another zone, at {host}:{port}"
        case events.DialogClosed():
            return "the dialog is closed"
        case Unexpected(opcode, name, reason):
            return f"{name or opcode} cannot be read: {reason}"
        case Closed(reason):
            return f"the session is over: {reason}"
    return str(event)


def _where(core: WorldClient, index: int) -> str:
    seen = core.surroundings
    if seen is None or index not in seen:
        return ""
    place = seen.place(index)
    return f" at {place_text(place)}, {core.place.distance_to(place):.1f} away"


def _changes(update: events.Updated, core: WorldClient) -> Iterator[str]:
    """Tell where ghosts go, and what else of them is another now."""
    seen = core.surroundings
    for entry in update.entries:
        if seen is None or entry.now is None or entry.before in (None, entry.now):
            continue
        name = seen.name(entry.ghost) or "something"
        if entry.part == POSITION:
            place = place_of(seen.part_fields(POSITION, entry.now))
            away = core.place.distance_to(place)
            yield f"~ {name} at {place_text(place)}, {away:.1f} away"
        elif entry.part == INFO and entry.before is not None:
            now, before = (seen.part_fields(INFO, one) for one in (entry.now, entry.before))
            told = changed_fields(before, now)
            yield f"~ {name}: " + ", ".join(f"{key} {value}" for key, value in told.items())
