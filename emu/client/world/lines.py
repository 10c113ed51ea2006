"""The lines a person types to a client in the world, and what they do.

One language for the interactive shell, for scripts, and for ``emu client play --do``. A line that
begins with a slash, or with the name of a command that the world has given, goes to the world as it
is; the words below are the client's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Final

from emu.client.world.core import WorldClient
from emu.client.world.report import place_text, seen_line
from emu.client.world.walking import Place
from emu.errors import CommandError
from emu.times import Monotonic

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
    run: Callable[[WorldClient, list[str], Monotonic], Answer | None]


def run_line(core: WorldClient, line: str, now: Monotonic) -> Answer:
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


def completions(core: WorldClient, text: str) -> Iterator[str]:
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


def _index(core: WorldClient, words: Sequence[str]) -> int:
    """Return the ghost that words name."""
    name = " ".join(words)
    index = core.surroundings.find(name) if core.surroundings is not None else None
    if index is None:
        raise CommandError(f"nothing called {name!r} is around")
    return index


def _around(core: WorldClient, words: list[str], _now: Monotonic) -> Answer:
    seen = core.surroundings
    if seen is None:
        raise CommandError(f"what clients of version {core.version} see is not known")
    farthest = _number(words[0]) if words else AROUND
    found = seen.near(core.place, farthest, besides=core.own_index)
    return [seen_line(one) for one in found] or ["nothing is around"]


def _look(core: WorldClient, words: list[str], now: Monotonic) -> Answer:
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


def _where(core: WorldClient, _words: list[str], _now: Monotonic) -> Answer:
    zone = core.zone.description if core.zone is not None else "nowhere"
    return [f"{zone}: {place_text(core.place)}, heading {core.place.heading:.1f}"]


def _move(core: WorldClient, words: list[str], now: Monotonic) -> Answer:
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


def _raw(core: WorldClient, words: list[str], _now: Monotonic) -> Answer:
    if not words:
        raise CommandError("raw OPCODE [HEX ...]")
    try:
        payload = bytes.fromhex("".join(words[1:]))
    except ValueError as error:
        raise CommandError(f"the payload is not hexadecimal: {error}") from None
    core.send(words[0], payload)
    return [f"sent {words[0]} with {len(payload)} bytes"]


def _target(core: WorldClient, words: list[str], _now: Monotonic) -> None:
    core.target(_index(core, words) if words else None)


def _answer(core: WorldClient, words: list[str], _now: Monotonic) -> None:
    if not words:
        core.close_dialog()
    else:
        core.answer(int(_number(words[0])))


def _use(core: WorldClient, words: list[str], _now: Monotonic) -> None:
    if not words:
        raise CommandError("use NAME; around lists what there is")
    core.use(_index(core, words))


def _help(core: WorldClient, _words: list[str], _now: Monotonic) -> Answer:
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
