"""Codes of the login server's and the world's replies to clients.

They are those of EQ2Emulator, for the older clients; other servers may send other codes. Sources:
docs/protocol/login.md#reply-codes, docs/protocol/characters.md#create-reply,
docs/protocol/characters.md#delete, docs/protocol/characters.md#play-reply.
"""

from __future__ import annotations

from enum import IntEnum


class LoginCode(IntEnum):
    """First byte of a login reply, of the login server or at zone entry."""

    ACCEPTED = 0
    BAD_NAME_OR_PASSWORD = 1
    ALREADY_PLAYING = 2
    WRONG_VERSION = 6
    NO_PLAY_TIME = 7
    LACKS_FEATURES = 8
    UNKNOWN_REASON = 9
    """No client knows this code, so none shows a wrong reason."""
    FLAGS = 10
    """No refusal: the second login reply, sent after every world list."""
    WRONG_BUILD = 11
    OLD_PASSWORD = 12


class CreateCode(IntEnum):
    """Result of a create request."""

    UNKNOWN_ERROR = 0
    SUCCESS = 1
    NO_SERVERS = 2
    PENDING = 3
    MAX_CHARACTERS = 4
    INVALID_RACE = 5
    INVALID_CITY = 6
    INVALID_CLASS = 7
    INVALID_GENDER = 8
    INVALID_FIRST_LEVEL = 9
    BAD_NAME_LENGTH = 10
    INVALID_NAME = 11
    NAME_FILTER = 12
    NAME_TAKEN = 13
    OVERLOADED = 14
    UNKNOWN_ERROR_2 = 15
    """Sent to a banned account."""
    INVALID_FEATURES = 16
    INVALID_FEATURES_2 = 17
    INVALID_APPEARANCE = 18


class DeleteCode(IntEnum):
    """Result of a delete request."""

    REFUSED = 0
    SUCCESS = 1
    NOT_FOUND = 3


class PlayCode(IntEnum):
    """Result of a play request."""

    PROBLEM = 0
    SUCCESS = 1
    ZONE_DOWN = 4
    CHARACTER_NOT_LOADED = 5
    CHARACTER_NOT_FOUND = 6
    ACCOUNT_IN_USE = 7
    TIMEOUT = 8
    SHUTTING_DOWN = 9
    LOADING_ERROR = 10
    EXCHANGE_SERVER = 11
    OTHER_REGION = 12
    INVALID_CLASS = 13
    TOO_MANY_CHARACTERS = 14
    EXPANSION_MISSING = 15
    BANNED = 18
    PROHIBITED = 19
    WORLD_FULL = 253
    """-3 as an unsigned byte."""
