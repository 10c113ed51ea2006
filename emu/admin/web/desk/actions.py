"""What can be done from the page: each action is one command, with fields for its arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from emu.admin.web.desk.bodies import Fields
from emu.admin.web.desk.refusals import BAD_REQUEST, NOT_FOUND, RequestRefused
from emu.commands.arguments import one_line

WORD: Final = r"[^\s\"']{1,64}"
NUMBER: Final = "[0-9]{1,9}"
SPAN: Final = "[0-9]{1,5}[mhdw]|ever"
TEXT: Final = ".{1,500}"


@dataclass(frozen=True, slots=True)
class Field:
    """One argument of a command. `default` stands in when it is left out; None: it must not be."""

    name: str
    about: str
    pattern: str = WORD
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Action:
    """An action; the fields are in the order of the command's arguments, a text comes last."""

    command: str
    about: str
    fields: tuple[Field, ...] = ()


PLAYER: Final = Field("player", "name of somebody in the world")
REASON: Final = Field("reason", "why", TEXT, default="")
LASTING: Final = Field("lasting", "90m, 12h, 7d, 2w or ever", SPAN, default="ever")
ACTIONS: Final[Mapping[str, Action]] = {
    "kick": Action("kick", "Send a player away.", (PLAYER, REASON)),
    "ban": Action("character ban", "Keep the account of a character out.",
                  (Field("player", "name of a character"), LASTING, REASON)),
    "unban": Action("account unban", "Let a banned account in again.",
                    (Field("account", "name of the account"),)),
    "mute": Action("mute", "Let a player not speak for a while.",
                   (PLAYER, Field("minutes", "for how long", NUMBER, default="10"), REASON)),
    "unmute": Action("unmute", "Let a player speak again.", (PLAYER,)),
    "broadcast": Action("broadcast", "Show everybody a line of text.",
                        (Field("text", "what everybody reads", TEXT),)),
    "lock": Action("lock", "Let only those in who keep order."),
    "unlock": Action("unlock", "Let everybody in."),
    "shutdown": Action("shutdown", "Stop the server after some seconds.",
                       (Field("seconds", "from now", NUMBER, default="30"),)),
    "cancel": Action("cancel", "Take a shutdown back."),
}  # fmt: skip
"""By the last part of the address."""


def action_named(name: str) -> Action:
    """Return an action. Raises `RequestRefused`."""
    if name not in ACTIONS:
        raise RequestRefused(NOT_FOUND, "no such action", "there is no such action")
    return ACTIONS[name]


def line_of(action: Action, fields: Fields) -> str:
    """Return the command's line. Raises `RequestRefused` that names the field that is wrong."""
    known = {field.name for field in action.fields}
    for name in fields:
        if name not in known:
            raise RequestRefused(BAD_REQUEST, "bad field", f"{name}: there is no such field")
    words = [_word(field, one_line(fields.get(field.name, ""))) for field in action.fields]
    return " ".join([action.command, *words]).strip()


def _word(field: Field, value: str) -> str:
    if not value:
        if field.default is None:
            raise RequestRefused(BAD_REQUEST, "bad field", f"{field.name} is missing")
        return field.default
    if re.fullmatch(field.pattern, value) is None:
        raise RequestRefused(
            BAD_REQUEST, "bad field", f"{field.name}: {value[:40]!r} is not {field.about}"
        )
    return value
