"""The lines that a person types to a client in the world, and the lines that answer.

One language for the interactive shell, for scripts, and for ``emu client play --do``. A line that
begins with a slash, or with the name of a command that the world has given, goes to the world as it
is; the words below are the client's own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, Final

from emu.client.events import Closed, Unexpected
from emu.client.world import events
from emu.client.world.core import WorldClientCore
from emu.client.world.surroundings import Place, SeenGhost, place_of
from emu.errors import CommandError
from emu.times import Monotonic
from emu.world_stream.deltas import changed_fields
from emu.world_stream.ghosts import INFO, PART_NAMES, POSITION


def as_lines(event: events.WorldEvent, core: WorldClientCore) -> Iterator[str]:
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


def as_records(event: events.WorldEvent, core: WorldClientCore) -> Iterator[dict[str, Any]]:
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


def seen_line(seen: SeenGhost) -> str:
    """Return one line: name, level, place, and how far it is."""
    level = f" (level {seen.level})" if seen.level else ""
    return f"{seen.distance:7.1f}  {seen.name}{level}  at {place_text(seen.place)}"


def place_text(place: Place) -> str:
    """Return a place as people write it."""
    return f"{place.x:.2f}, {place.y:.2f}, {place.z:.2f}"


def _line(event: events.WorldEvent, core: WorldClientCore) -> str:
    match event:
        case events.ZoneTold(file, description, character):
            return f"{character} enters {description} ({file})"
        case events.Stood():
            return f"you stand at {place_text(core.place)}"
        case events.Refused(code, text):
            return f"the world refuses you: {text} (code {code})"
        case events.Appeared(index, name):
            own = " (you)" if index == core.own_index else ""
            return f"+ {name or 'something'}{own}{_place_text(core, index)}"
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


def _place_text(core: WorldClientCore, index: int) -> str:
    seen = core.surroundings
    if seen is None or index not in seen:
        return ""
    place = seen.place(index)
    return f" at {place_text(place)}, {core.place.distance_to(place):.1f} away"


def _changes(update: events.Updated, core: WorldClientCore) -> Iterator[str]:
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


AROUND: Final = 300.0
"""World units within which `around` looks: as far as ghosts are kept."""
WIDTH: Final = 78
"""Columns of what `help` lists."""
Answer = Sequence[str]


@dataclass(frozen=True, slots=True)
class Word:
    """One of the client's own words. `run` gets the client, the rest of the line, and the time."""

    name: str
    usage: str
    help: str
    run: Callable[[WorldClientCore, list[str], Monotonic], Answer | None]


def run_line(core: WorldClientCore, line: str, now: Monotonic) -> Answer:
    """Do what a line says; returns what is answered at once, the rest comes as events.

    Raises `CommandError` for a line that cannot be understood or cannot be done now.
    """
    line = line.strip()
    if not line:
        return ()
    name, *words = line.split()
    word = WORDS.get(name)
    if word is not None:
        return word.run(core, words, now) or ()
    if line.startswith("/") or name in core.commands:
        core.command(line)
        return ()
    raise CommandError(f"you have no command {name}; help lists those that you have")


def completions(core: WorldClientCore, text: str) -> Iterator[str]:
    """Yield what the last word of a text may become."""
    before, _, last = text.rpartition(" ")
    wanted = last.casefold()
    if before.strip():
        seen = core.surroundings
        names = {seen.name(index) for index in seen} if seen is not None else set()
        candidates = sorted(names - {""})
    else:
        candidates = sorted({*WORDS, *core.commands}) if not last.startswith("/") else []
        candidates += sorted(f"/{name}" for name in core.commands) if last[:1] == "/" else []
    yield from (one for one in candidates if one.casefold().startswith(wanted))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise CommandError(f"{text!r} is no number") from None


def _index(core: WorldClientCore, words: Sequence[str]) -> int:
    """Return the ghost that words name."""
    name = " ".join(words)
    index = core.surroundings.find(name) if core.surroundings is not None else None
    if index is None:
        raise CommandError(f"nothing called {name!r} is around")
    return index


def _around(core: WorldClientCore, words: list[str], _now: Monotonic) -> Answer:
    seen = core.surroundings
    if seen is None:
        raise CommandError(f"what clients of version {core.version} see is not known")
    farthest = _number(words[0]) if words else AROUND
    found = seen.near(core.place, farthest, besides=core.own_index)
    return [seen_line(one) for one in found] or ["nothing is around"]


def _look(core: WorldClientCore, words: list[str], now: Monotonic) -> Answer:
    if not words:
        return _around(core, [], now)
    index = _index(core, words)
    assert core.surroundings is not None  # noqa: S101  # something is around
    fields = core.surroundings.fields(index)
    return [f"{name}: {value}" for name, value in _flat(fields) if value not in (0, 0.0, "")]


def _flat(fields: dict[str, object], before: str = "") -> Iterator[tuple[str, object]]:
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name}.")
        elif not isinstance(value, list) or any(value):
            yield f"{before}{name}", value.rstrip("\0") if isinstance(value, str) else value


def _where(core: WorldClientCore, _words: list[str], _now: Monotonic) -> Answer:
    zone = core.zone.description if core.zone is not None else "nowhere"
    return [f"{zone}: {place_text(core.place)}, heading {core.place.heading:.1f}"]


def _move(core: WorldClientCore, words: list[str], now: Monotonic) -> Answer:
    here, numbers = core.place, [_number(word) for word in words if not word.isalpha()]
    if len(numbers) == 3:
        goal = Place(numbers[0], numbers[1], numbers[2])
    elif len(numbers) == 2:
        goal = Place(numbers[0], here.y, numbers[1])
    elif words and core.surroundings is not None:
        goal = core.surroundings.place(_index(core, words))
    else:
        raise CommandError("move X Z, move X Y Z, or move NAME")
    core.walk_to(*goal[:3], now)
    return [f"{here.distance_to(goal):.1f} units to go"]


def _raw(core: WorldClientCore, words: list[str], _now: Monotonic) -> Answer:
    if not words:
        raise CommandError("raw OPCODE [HEX ...]")
    try:
        payload = bytes.fromhex("".join(words[1:]))
    except ValueError as error:
        raise CommandError(f"the payload is not hexadecimal: {error}") from None
    core.send(words[0], payload)
    return [f"sent {words[0]} with {len(payload)} bytes"]


def _target(core: WorldClientCore, words: list[str], _now: Monotonic) -> None:
    core.target(_index(core, words) if words else None)


def _answer(core: WorldClientCore, words: list[str], _now: Monotonic) -> None:
    if not words:
        core.close_dialog()
    else:
        core.answer(int(_number(words[0])))


def _use(core: WorldClientCore, words: list[str], _now: Monotonic) -> None:
    if not words:
        raise CommandError("use NAME; around lists what there is")
    core.use(_index(core, words))


def _help(core: WorldClientCore, _words: list[str], _now: Monotonic) -> Answer:
    words = dict.fromkeys(WORDS.values())
    rows = [f"{word.usage:<22} {word.help}" for word in words]
    worlds = ", ".join(sorted(core.commands))
    return [*rows, *wrap(f"the world's: {worlds}", WIDTH)] if worlds else rows


WORDS: Final = {
    word.name: word
    for word in (
        Word("around", "around [DISTANCE]", "list what is around, the nearest first", _around),
        Word("look", "look [NAME]", "show all that is told of somebody, or who is around", _look),
        Word("where", "where", "say where you are", _where),
        Word("move", "move X [Y] Z | NAME", "walk to a place, or to somebody", _move),
        Word("use", "use NAME", "go through a door, read a sign, and the like", _use),
        Word("stop", "stop", "walk no farther", lambda core, _, now: core.walker.stop(now)),
        Word("sit", "sit", "sit down", lambda core, *_: core.sit()),
        Word("stand", "stand", "stand up", lambda core, *_: core.stand()),
        Word("target", "target [NAME]", "look at somebody, or at nobody", _target),
        Word("answer", "answer [NUMBER]", "answer the open dialog, or close it", _answer),
        Word("camp", "camp", "leave the world after a countdown", lambda core, *_: core.camp()),
        Word("quit", "quit", "leave the world at once", lambda core, *_: core.quit()),
        Word("raw", "raw OPCODE [HEX ...]", "send any message, by name or number", _raw),
        Word("help", "help", "show this", _help),
    )
}
"""The client's own words by name."""
WORDS["walk"] = WORDS["move"]
