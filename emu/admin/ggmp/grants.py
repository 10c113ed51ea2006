"""Who may join, and what each may do: tokens, or known clients, each with actions that it allows.

Source: docs/protocol/administration/ggmp.md#joining.
"""

from __future__ import annotations

import enum
import hmac
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from emu.admin.ggmp.messages import MOST_CLIENTS
from emu.errors import CommandError
from emu.limits.addresses import parse_host

SHORTEST_TOKEN: Final = 16
LONGEST_TOKEN: Final = 255


class Action(enum.IntEnum):
    """What an actor can be asked to do: the action number of an Action message."""

    __hash__ = int.__hash__  # Enum's own is not in C, and these are looked up for every datagram

    QUERY = 1
    """Tell of it; actor 0 is the server, or whom the data name, or those of a zone."""
    WATCH = 2
    """Tell of it whenever it has moved."""
    SAY = 3
    MOVE = 4


EVERYTHING: Final = frozenset(Action)


@dataclass(frozen=True, slots=True)
class Grant:
    """A token, whose it is, and what it allows; without one, what others are allowed."""

    name: str
    token: str
    actions: frozenset[Action]


def read_grants(text: str) -> tuple[Grant, ...]:
    """Return the grants of a file: on each line a name, actions and a token; # is a remark.

    Actions are words joined by commas (``query,watch``), or ``*`` for all. Raises `CommandError`
    that names the line.
    """
    grants: list[Grant] = []
    for number, (name, actions, token) in _entries(text, 3, "a name, actions and a token"):
        if not SHORTEST_TOKEN <= len(token.encode()) <= LONGEST_TOKEN:
            raise CommandError(
                f"line {number}: a token has {SHORTEST_TOKEN} to {LONGEST_TOKEN} bytes"
            )
        grants.append(Grant(name, token, _actions(actions, number)))
    return tuple(grants)


@dataclass(frozen=True, slots=True)
class StaticClient:
    """A client whose number is agreed upon elsewhere, and the only host that may use it."""

    number: int
    host: str
    grant: Grant


def read_clients(text: str) -> dict[int, StaticClient]:
    """Return the clients of a file by their numbers.

    On each line a name, actions, a number and an IP address; # is a remark. Raises `CommandError`
    that names the line.
    """
    clients: dict[int, StaticClient] = {}
    wanted = "a name, actions, a number and an address"
    for number, (name, actions, client, host) in _entries(text, 4, wanted):
        if not client.isdecimal() or not 1 <= int(client) <= MOST_CLIENTS:
            raise CommandError(f"line {number}: a client has a number from 1 to {MOST_CLIENTS}")
        if int(client) in clients:
            raise CommandError(f"line {number}: client {client} is there already")
        try:
            address = str(parse_host(host))
        except ValueError:
            raise CommandError(f"line {number}: {host} is no IP address") from None
        grant = Grant(name, "", _actions(actions, number))
        clients[int(client)] = StaticClient(int(client), address, grant)
    return clients


def _entries(text: str, count: int, wanted: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the words of each line that is neither empty nor a remark, with its number."""
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if words and not words[0].startswith("#"):
            if len(words) != count:
                raise CommandError(f"line {number}: must be {wanted}")
            yield number, words


def _actions(words: str, number: int) -> frozenset[Action]:
    if words == "*":
        return EVERYTHING
    try:
        return frozenset(Action[word.upper()] for word in words.split(","))
    except KeyError as error:
        known = ", ".join(action.name.lower() for action in Action)
        raise CommandError(f"line {number}: {error.args[0].lower()} is none of {known}") from None


def grant_of(grants: Sequence[Grant], token: str) -> Grant | None:
    """Return what a token allows; takes as long whichever token it is."""
    given = token.encode()
    found: Grant | None = None
    for grant in grants:
        if hmac.compare_digest(given, grant.token.encode()):
            found = grant
    return found
