"""Texts of a recording: what private commands are without their words, and events as lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from typing import Any, Final

from emu.commands import Argument, ArgumentKind, Registry
from emu.errors import CommandError
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from emu.world.events import GameEvent
from emu.world.recording.values import masked
from emu.world.zones.zone import Zone

ALOUD: Final = frozenset(("say", "yell", "shout", "auction", "ooc", "emote"))
"""Commands whose words everybody near hears."""
OWN_WORDS: Final = frozenset(("text", "message", "note", "report", "letter", "reason"))
"""Arguments that people write for others."""
PRIVATE_MESSAGES: Final = frozenset((
    "OP_MailSendMessageMsg", "OP_MacroUpdateMsg", "OP_BioUpdateMsg",
))  # fmt: skip
"""Messages of clients that are left out as a whole: they have texts, and change no zone."""
LONGEST_TEXT: Final = 80


def is_private(argument: Argument) -> bool:
    """Return whether an argument is left out of recordings."""
    return argument.kind is ArgumentKind.SECRET or (
        argument.kind is ArgumentKind.TEXT and argument.name in OWN_WORDS
    )


def public_arguments(registry: Registry, word: str, rest: str) -> str:
    """Return the arguments of a command; letters of private ones become ``x``."""
    try:
        command, after = registry.resolve(f"{word} {rest}")
    except CommandError:
        return masked(rest)
    if command.name in ALOUD or not any(map(is_private, command.arguments)):
        return rest
    # Those before the first private one are words.
    before = 0
    while not is_private(command.arguments[before]):
        before += 1
    words = after.split(maxsplit=before)
    private = " ".join(map(masked, words[before:]))
    second = rest.removesuffix(after)
    return second + " ".join([*words[:before], *([private] if private else [])])


def line_of(event: GameEvent) -> str:
    """Return what has happened, as names and plain values."""
    found = []
    for field in fields(event):
        text = _shown(getattr(event, field.name))
        if text:
            found.append(text if field.name == "player" else f"{field.name}={text}")
    return " ".join(found)


def _shown(value: Any) -> str:  # noqa: PLR0911  # one return for each type
    if isinstance(value, Player | Spawn):
        return value.name
    if value is None or isinstance(value, Zone | Mapping | list | set | float):
        return ""
    if isinstance(value, str):
        return repr(value[:LONGEST_TEXT]) if value else ""
    if isinstance(value, Enum):
        return value.name.lower()
    if isinstance(value, bool | int):
        return str(value)
    if isinstance(value, tuple):
        return ",".join(filter(None, map(_shown, value)))
    name = getattr(value, "name", None)
    return name if isinstance(name, str) else ""
