"""Texts of the reply codes a login server sends, as a client would tell its user.

Sources: docs/protocol/login.md#reply-codes (login),
docs/protocol/characters.md#create-reply, docs/protocol/characters.md#delete,
docs/protocol/characters.md#play-reply. The numbers are those of EQ2Emulator, which fit the older
clients.
"""

from __future__ import annotations

LOGIN_ACCEPTED = 0
LOGIN_FLAGS = 10
"""Not a refusal: the second login reply, sent after every world list."""

LOGIN_CODES = {
    0: "accepted",
    1: "bad user name or password",
    2: "the account is already playing",
    6: "the client version does not match",
    7: "no play time is scheduled now",
    8: "the account lacks the features of this server",
    10: "flags",
    11: "the client build does not match",
    12: "the password must be updated",
}

CREATE_CODES = {
    0: "unknown error",
    1: "created",
    2: "no servers are available",
    3: "pending",
    4: "the account has all the characters it may have",
    5: "invalid race",
    6: "invalid city",
    7: "invalid class",
    8: "invalid gender",
    9: "invalid first level",
    10: "the name is too short or too long",
    11: "the name has characters that are not letters",
    12: "the name is blocked by the name filter",
    13: "the name is taken",
    14: "the server is overloaded",
    15: "unknown error 2",
    16: "invalid features",
    17: "invalid features",
    18: "invalid race appearance",
}

DELETE_CODES = {0: "refused", 1: "deleted", 3: "not found"}

PLAY_CODES = {
    0: "a problem with the world or the character",
    1: "go",
    4: "the zone is down",
    5: "the character could not be loaded",
    6: "the character was not found",
    7: "the account is in use",
    8: "the world did not answer in time",
    9: "the world is shutting down",
    10: "the character could not be loaded",
    11: "the character belongs to an exchange server",
    12: "the character belongs to another region",
    13: "invalid class",
    14: "too many characters",
    15: "an expansion is missing",
    18: "banned",
    19: "prohibited",
    253: "the world is full",
}


def text_of(codes: dict[int, str], code: int) -> str:
    """Return the text of a reply code, ``"unknown reason"`` for one without any."""
    return codes.get(code, "unknown reason")
