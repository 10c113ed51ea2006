"""Finished steps as text for a person and as plain values for a program."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from emu.client import events
from emu.client.flow import StepDone, StepFailed
from emu.errors import EmuError
from emu.texts import counted


def as_line(step: StepDone) -> str:
    """Return one line: name of the step, milliseconds, what came."""
    return f"{step.name:<18}{step.seconds * 1000:9.1f} ms  {describe(step.event)}".rstrip()


def as_record(step: StepDone) -> dict[str, Any]:
    """Return the step as values that JSON can hold: step, ms, event, and the event's fields.

    The world's address of a PlayAnswer is ``server``, with host and port. The whole
    LS_LoginReplyMsg or CharSelectProfile behind an event is left out.
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
    """Return what went wrong: step (None before the first) and error."""
    return {"step": error.step if isinstance(error, StepFailed) else None, "error": str(error)}


def _plain(value: Any) -> dict[str, Any]:
    return {
        field.name.rstrip("_"): _plain_value(getattr(value, field.name))
        for field in dataclasses.fields(value)
        if not isinstance(getattr(value, field.name), Mapping)
    }


def _plain_value(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return _plain(value)
    if isinstance(value, tuple):
        return [_plain_value(one) for one in value]
    return value.hex() if isinstance(value, bytes) else value


def describe(event: events.Event) -> str:
    """Say in a few words what an event brought; empty when its step's name says it all."""
    match event:
        case events.SessionUp(session_id):
            return f"session {session_id:08x}"
        case events.WorldList(worlds):
            return _counted("world", [_world(one) for one in worlds])
        case events.Characters(characters, account):
            shown = [_character(one) for one in characters if not one.deleted]
            return f"account {account.account_id}, {_counted('character', shown)}"
        case events.Created(_, text, name):
            return f"{name or 'character'} {text}"
        case events.Deleted(_, text, _, _, name):
            return f"{name} {text}"
        case events.PlayAnswer(1, _, address, port, access_code):
            return f"world at {address}:{port}, access code {access_code}"
        case events.PlayAnswer(code, text):
            return f"{text} (code {code})"
        case events.Keymap(data):
            return "no keymap is kept" if data is None else f"keymap of {len(data)} bytes"
    return ""


def _counted(what: str, shown: list[str]) -> str:
    count = counted(len(shown), what)
    return f"{count}: {'; '.join(shown)}" if shown else count


def _world(world: events.ListedWorld) -> str:
    return f"{world.id} {world.name} ({_state(world)}, {counted(world.players, 'player')})"


def _state(world: events.ListedWorld) -> str:
    return "locked" if world.locked else "up" if world.up else "down"


def _character(character: events.ListedCharacter) -> str:
    return f"{character.name} (level {character.level}, world {character.world_id})"


def world_lines(worlds: Sequence[events.ListedWorld], *, as_json: bool) -> Iterator[str]:
    """Yield one line for each world: a JSON object, or id, name, state and players with tabs."""
    for world in worlds:
        if as_json:
            yield json.dumps(_plain(world))
        else:
            yield f"{world.id}\t{world.name}\t{_state(world)}\t{world.players}"
