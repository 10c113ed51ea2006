"""Selects messages of a capture by name, number, direction and session."""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Final

from emu.capture.formats.records import show_address
from emu.capture.messages import CapturedCommand, CapturedMessage
from emu.errors import CommandError

SESSION: Final = "session="
DIRECTIONS: Final = {"to-server": True, "to-client": False}
CLOSE: Final = 0.8
"""How similar a name must be to be suggested, from 0 to 1."""
UNKNOWN: Final = "unknown"
"""The pattern for messages and commands without a name."""


@dataclass(frozen=True, slots=True)
class MessageSelection:
    """What to select. An empty set selects everything of its kind.

    A message must match one element of each set that is not empty. `names` are shell patterns in
    lower case (``op_*chat*``) or ``unknown``, `numbers` are opcodes, `directions` are values of
    `CapturedMessage.to_server`, and `sessions` are session ids or ``address:port`` of clients, as
    `session_label` and `show_address` return them.
    """

    names: frozenset[str] = frozenset()
    numbers: frozenset[int] = frozenset()
    directions: frozenset[bool] = frozenset()
    sessions: frozenset[str] = frozenset()

    def select(self, message: CapturedMessage) -> CapturedMessage | None:
        """Return the message, or None if it is not selected.

        An OP_ClientCmdMsg that is selected only by names or numbers of its commands is returned
        with these commands alone.
        """
        if self.directions and message.to_server not in self.directions:
            return None
        if self.sessions and self.sessions.isdisjoint(
            (session_label(message), show_address(message.session.client))
        ):
            return None
        if not (self.names or self.numbers) or self._matches(message):
            return message
        commands = tuple(one for one in message.commands or () if self._matches(one))
        # Only the matching commands are kept: the reader asked for them and not for their
        # neighbors.
        return replace(message, commands=commands) if commands else None

    def _matches(self, one: CapturedMessage | CapturedCommand) -> bool:
        if one.opcode in self.numbers:
            return True
        name = UNKNOWN if one.name is None else one.name.lower()
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in self.names)


def read_selection(words: Iterable[str], known: Collection[str]) -> MessageSelection:
    """Return the selection of some words.

    A word is ``to-server``, ``to-client``, ``session=ID``, an opcode number, or a pattern of names.
    `known` are all names of messages and commands. Raises `CommandError` for a pattern that matches
    none of them, and for a session that is neither hexadecimal nor ``address:port``.
    """
    names, numbers = set[str](), set[int]()
    directions, sessions = set[bool](), set[str]()
    # Patterns are compared in lower case; the original spelling is for the hint.
    lowered = {name.lower(): name for name in known}
    for word in words:
        if word in DIRECTIONS:
            directions.add(DIRECTIONS[word])
        elif word.startswith(SESSION):
            sessions.add(_session(word.removeprefix(SESSION)))
        elif word.isascii() and word.isdecimal():
            numbers.add(int(word))
        else:
            names.add(_pattern(word, lowered))
    return MessageSelection(
        frozenset(names), frozenset(numbers), frozenset(directions), frozenset(sessions)
    )


def session_label(message: CapturedMessage) -> str:
    """Return a message's session id as eight hexadecimal digits.

    A session that began before the capture has no known id; the client's address stands for it.
    """
    if message.session_id is None:
        return show_address(message.session.client)
    return f"{message.session_id:08x}"


def _pattern(word: str, known: dict[str, str]) -> str:
    """Return a pattern in lower case. Raises `CommandError` when it matches no name."""
    pattern = word.lower()
    if pattern == UNKNOWN or fnmatch.filter(known, pattern):
        return pattern
    if fnmatch.filter(known, f"*{pattern}*"):
        raise CommandError(f"no message has the name {word}; did you mean '*{word}*'?")
    near = difflib.get_close_matches(pattern, known, n=1, cutoff=CLOSE)
    hint = f"did you mean {known[near[0]]}?" if near else "try a pattern, such as 'OP_*Chat*'"
    raise CommandError(f"no message has the name {word}; {hint}")


def _session(text: str) -> str:
    if ":" in text:
        return text.lower()
    if not re.fullmatch(r"(0x)?[0-9a-f]{1,8}", text.lower()):
        raise CommandError(
            f"{text!r} is no session: give its id in hexadecimal, as --brief prints it, or the "
            "client's address:port"
        )
    # One form for the id, because `session_label` prints eight digits without a prefix.
    return f"{int(text, 16):08x}"
