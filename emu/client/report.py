"""Finished steps as text for people and as plain values for programs."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from emu.client import events
from emu.client.flow import StepDone, StepFailed
from emu.errors import EmuError
from emu.reply_codes import PlayCode
from emu.texts import counted


def as_line(step: StepDone) -> str:
    """Return one line: name of the step, milliseconds, content of its event."""
    return f"{step.name:<18}{step.seconds * 1000:9.1f} ms  {describe(step.event)}".rstrip()


def as_record(step: StepDone) -> dict[str, Any]:
    """Return the step as values for JSON: step, ms, event, and the event's fields.

    The world's address of a PlayAnswer is ``server``, with host and port. The whole
    LS_LoginReplyMsg or CharSelectProfile of an event is omitted.
    """
    record = {
        "step": step.name,
        "ms": round(step.seconds * 1000, 3),
        "event": type(step.event).__name__,
        **_plain(step.event),
    }
    if isinstance(step.event, events.PlayAnswer):
        record["server"] = {"host": record.pop("address"), "port": record.pop("port")}
    return record


def failure_record(error: EmuError) -> dict[str, Any]:
    """Return an error for JSON: step (None before the first) and error."""
    return {"step": error.step if isinstance(error, StepFailed) else None, "error": str(error)}


def _plain(value: Any) -> dict[str, Any]:
    return {
        # `class_` has its underscore only because "class" is a keyword of Python.
        field.name.rstrip("_"): _plain_value(getattr(value, field.name))
        for field in dataclasses.fields(value)
        # Mappings are whole structs, which are too long for a line.
        if not isinstance(getattr(value, field.name), Mapping)
    }


def _plain_value(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return _plain(value)
    if isinstance(value, tuple):
        return [_plain_value(one) for one in value]
    # JSON has no bytes, so they become hex digits.
    return value.hex() if isinstance(value, bytes) else value


def describe(event: events.Event) -> str:
    """Return the content of an event in a few words; empty if its step's name says it all."""
    description = _DESCRIPTIONS.get(type(event))
    return "" if description is None else description(event)


def _play_answer(event: events.PlayAnswer) -> str:
    if event.code != PlayCode.SUCCESS:
        return f"{event.text} (code {event.code})"
    return f"world at {event.address}:{event.port}, access code {event.access_code}"


def _characters(event: events.Characters) -> str:
    shown = [_character(one) for one in event.characters if not one.deleted]
    return f"account {event.account.account_id}, {_counted('character', shown)}"


def _keymap(event: events.Keymap) -> str:
    return "no keymap is kept" if event.data is None else f"keymap of {len(event.data)} bytes"


def _counted(what: str, shown: list[str]) -> str:
    count = counted(len(shown), what)
    return f"{count}: {'; '.join(shown)}" if shown else count


def _world(world: events.ListedWorld) -> str:
    return f"{world.id} {world.name} ({_state(world)}, {counted(world.players, 'player')})"


def _state(world: events.ListedWorld) -> str:
    return "locked" if world.locked else "up" if world.up else "down"


def _character(character: events.ListedCharacter) -> str:
    return f"{character.name} (level {character.level}, world {character.world_id})"


_DESCRIPTIONS: Mapping[type, Callable[[Any], str]] = {
    events.SessionUp: lambda event: f"session {event.session_id:08x}",
    events.WorldList: lambda event: _counted("world", [_world(one) for one in event.worlds]),
    events.Characters: _characters,
    events.Created: lambda event: f"{event.name or 'character'} {event.text}",
    events.Deleted: lambda event: f"{event.name} {event.text}",
    events.PlayAnswer: _play_answer,
    events.Keymap: _keymap,
}


def world_lines(worlds: Sequence[events.ListedWorld], *, as_json: bool) -> Iterator[str]:
    """Yield one line for each world: a JSON object, or id, name, state and players with tabs."""
    for world in worlds:
        if as_json:
            yield json.dumps(_plain(world))
        else:
            yield f"{world.id}\t{world.name}\t{_state(world)}\t{world.players}"
