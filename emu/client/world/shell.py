"""The command lines of a client in the world, and the lines of its answers.

The interactive shell, scripts, and ``emu client play --do`` use the same commands. A line that
begins with a slash, or with a command of the world, is sent to the world unchanged. The commands
below are the client's own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from emu.client.events import Closed, Unexpected
from emu.client.world import events
from emu.client.world.core import WorldClientCore
from emu.client.world.surroundings import Place, SeenGhost, health_percent, place_of
from emu.client.world.window_lines import WINDOW_LINES
from emu.dialects.dialect import NOT_SEEN
from emu.errors import CommandError
from emu.texts import counted
from emu.times import Monotonic
from emu.world_stream.deltas import changed_fields
from emu.world_stream.ghosts import INFO, PART_NAMES, POSITION


def as_lines(event: events.WorldEvent, core: WorldClientCore) -> Iterator[str]:
    """Yield an event as lines for people; nothing for an event without a visible change."""
    match event:
        case events.Updated():
            yield from _changes(event, core)
        case events.RevivalOffered(places):
            yield f"you are dead; {counted(len(places), 'way')} back, by revive"
            yield from (f"  {number}: {name}" for number, name in places)
        case events.DialogOpened(_, title, text, choices):
            yield f"{title}: {text}"
            yield from (f"  {number}. {choice}" for number, choice in enumerate(choices, 1))
        case events.WaysShown(_, ways):
            yield f"{counted(len(ways), 'destination')}; take one with travel NAME"
            yield from (f"  {way.name} ({way.zone}), {way.cost} copper" for way in ways)
        case events.OptionsShown(title, rows, _):
            yield f"{title}; choose one with choose NAME"
            yield from (f"  {row.name.strip()}: {row.text}" for row in rows)
        case events.WhoListed(players):
            yield f"{len(players)} player{'' if len(players) == 1 else 's'}"
            yield from (f"  {name}, level {level}, {zone}" for name, level, zone in players)
        case events.MailboxShown(letters, postage):
            yield f"{counted(len(letters), 'letter')}; a letter costs {postage} copper"
            yield from (
                f"  {one.id}: {one.subject} from {one.sender}" + ("" if one.is_read else ", new")
                for one in letters
            )
        case events.GuildMembersListed(members):
            yield f"guild: {counted(len(members), 'member')}"
            yield from (f"  {_member_text(member)}" for member in members)
        case _:
            yield _line(event, core)


def as_records(event: events.WorldEvent, core: WorldClientCore) -> Iterator[dict[str, Any]]:
    """Yield an event as values for JSON: `event`, and its fields.

    An update yields the changed fields of each ghost: ghost, name, part, fields.
    """
    if not isinstance(event, events.Updated):
        yield {"event": type(event).__name__} | dataclasses.asdict(event)
        return
    seen = core.surroundings
    for entry in event.entries:
        # A ghost whose creation was not read has no state before and after.
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
    """Return one line: distance, name, level, place."""
    level = f" (level {seen.level})" if seen.level else ""
    return f"{seen.distance:7.1f}  {seen.name}{level}  at {place_text(seen.place)}"


def place_text(place: Place) -> str:
    """Return a place as text."""
    return f"{place.x:.2f}, {place.y:.2f}, {place.z:.2f}"


def _line(event: events.WorldEvent, core: WorldClientCore) -> str:
    window = WINDOW_LINES.get(type(event))
    if window is not None:
        return window(event)
    line = _LINES.get(type(event))
    return str(event) if line is None else line(event, core)


def _appeared(event: events.Appeared, core: WorldClientCore) -> str:
    own = " (you)" if event.index == core.own_index else ""
    return f"+ {event.name or 'something'}{own}{_place_text(core, event.index)}"


def _heard(event: events.Heard, _core: WorldClientCore) -> str:
    to = f" to {event.to}" if event.to else ""
    return f"[{event.channel_name or event.channel}] {event.speaker}{to}: {event.text}"


def _emoted(event: events.Emoted, core: WorldClientCore) -> str:
    seen = core.surroundings
    name = seen.name(event.index) if seen is not None and event.index in seen else "something"
    return f"* {event.text or f'{name} moves'} (animation {event.animation})"


def _name(core: WorldClientCore, index: int) -> str:
    seen = core.surroundings
    if index == core.own_index:
        return "you"
    return seen.name(index) if seen is not None and index in seen else "something"


def _blow(event: events.BlowSeen, core: WorldClientCore) -> str:
    attacker, defender = _name(core, event.attacker), _name(core, event.defender)
    return f"{attacker} -> {defender}: {event.damage or 'nothing'}"


def _death(event: events.DeathSeen, core: WorldClientCore) -> str:
    return f"{_name(core, event.dead)} dead, killed by {_name(core, event.killer)}"


def _guild(event: events.GuildShown, _core: WorldClientCore) -> str:
    motd = f": {event.motd}" if event.motd else ""
    return f"guild {event.name}{motd}" if event.guild_id else "you are in no guild"


def _member_text(member: events.GuildMemberRow) -> str:
    where = f", {member.zone}" if member.zone else ""
    note = f": {member.note}" if member.note else ""
    return f"{member.name}, rank {member.rank}, level {member.level}{where}{note}"


def _shown(event: events.LineShown, _core: WorldClientCore) -> str:
    return event.text if event.color == "system" else f"({event.color}) {event.text}"


# An event's type selects its function; one chain of cases would be a very long function.
_LINES: Final[dict[type, Callable[[Any, WorldClientCore], str]]] = {
    events.ZoneToLoad: lambda event, _: (
        f"{event.character} enters {event.description} ({event.file})"
    ),
    events.Stood: lambda _, core: f"you stand at {place_text(core.place)}",
    events.Refused: lambda event, _: f"the world refuses you: {event.text} (code {event.code})",
    events.Appeared: _appeared,
    events.Vanished: lambda event, _: f"- {event.name or 'something'}",
    events.Heard: _heard,
    events.Emoted: _emoted,
    events.BlowSeen: _blow,
    events.CastRefused: lambda event, _: f"that is refused (code {event.code})",
    events.CastBegun: lambda event, _: f"you begin {event.name} ({event.seconds:.1f} s)",
    events.DeathSeen: _death,
    events.LineShown: _shown,
    events.ScreenShown: lambda event, _: f"*** {event.text} ***",
    events.ChannelChanged: lambda event, _: (
        f"{event.player} {event.action} {event.channel_name}".strip()
    ),
    events.ChannelMembers: lambda event, _: f"{event.channel_name}: {', '.join(event.players)}",
    events.LetterShown: lambda event, _: f"{event.subject}, from {event.sender}: {event.text}",
    events.MailCoins: lambda event, _: f"the mail window has {event.coins} copper",
    events.MailSent: lambda event, _: (
        f"the letter to {event.to} is sent"
        if not event.result
        else f"the letter to {event.to} is refused (result {event.result})"
    ),
    events.GroupOffered: lambda event, _: f"{event.inviter} invites you to a group",
    events.GuildOffered: lambda event, _: f"{event.inviter} invites you to {event.guild}",
    events.GuildShown: _guild,
    events.GuildMemberChanged: lambda event, _: f"guild: {_member_text(event.member)}",
    events.GuildMemberLeft: lambda event, _: f"guild: {event.char_id} is no member any more",
    events.CampBegun: lambda event, _: f"you camp: {event.seconds} seconds to go",
    events.CampStopped: lambda *_: "you camp no more",
    events.PutSomewhere: lambda event, _: (
        f"you are put at {place_text(Place(event.x, event.y, event.z))}"
    ),
    events.ZoneLeft: lambda event, _: f"on the way to another zone, at {event.host}:{event.port}",
    events.DialogClosed: lambda *_: "the dialog is closed",
    Unexpected: lambda event, _: f"{event.name or event.opcode} cannot be read: {event.reason}",
    Closed: lambda event, _: f"the session is over: {event.reason}",
}


def _place_text(core: WorldClientCore, index: int) -> str:
    seen = core.surroundings
    if seen is None or index not in seen:
        return ""
    place = seen.place(index)
    return f" at {place_text(place)}, {core.place.distance_to(place):.1f} away"


def _changes(update: events.Updated, core: WorldClientCore) -> Iterator[str]:
    """Yield the new places and the other changed fields of ghosts."""
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
            changed = changed_fields(before, now)
            yield f"~ {name}: " + ", ".join(
                _field_text(key, value, core) for key, value in changed.items()
            )


def _field_text(key: str, value: Any, core: WorldClientCore) -> str:
    """Return a changed field for people: health in percent, names for indexes of ghosts."""
    if key == "hp_remaining":
        return f"health {health_percent({key: value})} %"
    if key in ("target_id", "follow_target"):
        # Some versions count the ghost from the end (docs/protocol/world/commands.md#follow).
        index = min(value, NOT_SEEN - value)
        return f"{key.removesuffix('_id')} {'none' if value == NOT_SEEN else _name(core, index)}"
    return f"{key} {value}"


AROUND: Final = 300.0
"""Default distance of `around` in world units: ghosts are kept up to this distance."""
WIDTH: Final = 78
"""Columns of what `help` lists."""
Answer = Sequence[str]


@dataclass(frozen=True, slots=True)
class Word:
    """One of the client's own commands; `run` gets the client, the arguments, and the time."""

    name: str
    usage: str
    help: str
    run: Callable[[WorldClientCore, list[str], Monotonic], Answer | None]


def run_line(core: WorldClientCore, line: str, now: Monotonic) -> Answer:
    """Run a line and return its immediate answer; further results are events.

    Raises `CommandError` for a line that is wrong or not possible now.
    """
    line = line.strip()
    if not line:
        return ()
    name, *words = line.split()
    # The client's own commands come first; a slash reaches a world's command of the same name.
    word = WORDS.get(name)
    if word is not None:
        return word.run(core, words, now) or ()
    if line.startswith("/") or name in core.commands:
        core.command(line)
        return ()
    raise CommandError(f"unknown command {name}; help lists the commands")


def completions(core: WorldClientCore, text: str) -> Iterator[str]:
    """Yield the completions of the last word of a text."""
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
    """Return the nearest ghost with the name that the words form, or with these words in its name.

    Raises `CommandError` if there is none, or if the words are in different names.
    """
    seen, wanted = core.surroundings, " ".join(words).casefold()
    names = {index: seen.name(index) for index in seen} if seen is not None else {}
    found = [index for index, name in names.items() if name.casefold() == wanted]
    if not found:
        found = [i for i, name in names.items() if wanted and f" {wanted}" in f" {name.casefold()}"]
    if seen is None or not found:
        raise CommandError(f"no ghost near here is named {' '.join(words)!r}")
    several = sorted({names[index] for index in found})
    if len(several) > 1:
        raise CommandError(f"{' '.join(words)!r} can be {' or '.join(several)}")
    return min(found, key=lambda index: core.place.distance_to(seen.place(index)))


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
    # Most fields of a ghost are zero or empty and would hide the others.
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
    here = core.place
    try:
        numbers = [float(word) for word in words if not word.isalpha()]
    except ValueError:  # a name with an apostrophe
        numbers = []
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


def _travel(core: WorldClientCore, words: list[str], _now: Monotonic) -> None:
    if not words:
        raise CommandError("travel NAME; use a bell or another transporter first")
    core.travel(" ".join(words))


def _choose(core: WorldClientCore, words: list[str], _now: Monotonic) -> None:
    if not words:
        raise CommandError("choose NAME; a window of options must be open")
    core.choose(" ".join(words))


def _write(core: WorldClientCore, words: list[str], _now: Monotonic) -> None:
    subject, slash, text = " ".join(words[1:]).partition("/")
    if not slash:
        raise CommandError("write NAME SUBJECT / TEXT")
    core.send_mail(words[0], subject.strip(), text.strip())


def _help(core: WorldClientCore, _words: list[str], _now: Monotonic) -> Answer:
    # `walk` is a second name of `move`; each command is listed once.
    words = dict.fromkeys(WORDS.values())
    width = max(len(word.usage) for word in words)
    rows = [f"{word.usage:<{width}} {word.help}" for word in words]
    rows.append("A NAME of a ghost may be a part of it; the nearest ghost is meant.")
    if not core.commands:
        return rows
    count = counted(len(core.commands), "command")
    return [*rows, f"The world has {count}. The Tab key completes them; /help lists most of them."]


WORDS: Final = {
    word.name: word
    for word in (
        Word("around", "around [DISTANCE]", "list what is around, the nearest first", _around),
        Word("look", "look [NAME]", "show all fields of a ghost, or list what is around", _look),
        Word("where", "where", "show your zone and place", _where),
        Word("move", "move X [Y] Z | NAME", "walk to a place, or to a ghost", _move),
        Word("use", "use NAME", "go through a door, read a sign, and the like", _use),
        Word("stop", "stop", "stop walking", lambda core, _, now: core.walker.stop(now)),
        Word("sit", "sit", "sit down", lambda core, *_: core.sit()),
        Word("stand", "stand", "stand up", lambda core, *_: core.stand()),
        Word("target", "target [NAME]", "target a ghost, or nothing", _target),
        Word("answer", "answer [NUMBER]", "answer the open dialog, or close it", _answer),
        Word("travel", "travel NAME", "take a way of a transporter's window", _travel),
        Word("choose", "choose NAME", "choose a row of a window of options", _choose),
        Word("write", "write NAME SUBJECT / TEXT", "send a letter by the mail window", _write),
        Word("camp", "camp", "leave the world after a countdown", lambda core, *_: core.camp()),
        Word("quit", "quit", "leave the world at once", lambda core, *_: core.quit()),
        Word("raw", "raw OPCODE [HEX ...]", "send any message, by name or number", _raw),
        Word("help", "help", "show this", _help),
    )
}
"""The client's own commands by name."""
WORDS["walk"] = WORDS["move"]
