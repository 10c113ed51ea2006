"""The texts of a login server's reply codes."""

from __future__ import annotations

from collections.abc import Mapping

from emu.reply_codes import CreateCode, DeleteCode, LoginCode, PlayCode

LOGIN_TEXTS: Mapping[int, str] = {
    LoginCode.ACCEPTED: "accepted",
    LoginCode.BAD_NAME_OR_PASSWORD: "bad user name or password",
    LoginCode.ALREADY_PLAYING: "the account is already playing",
    LoginCode.WRONG_VERSION: "the client version does not match",
    LoginCode.NO_PLAY_TIME: "no play time is scheduled now",
    LoginCode.LACKS_FEATURES: "the account lacks the features of this server",
    LoginCode.FLAGS: "flags",
    LoginCode.WRONG_BUILD: "the client build does not match",
    LoginCode.OLD_PASSWORD: "the password must be updated",
}

CREATE_TEXTS: Mapping[int, str] = {
    CreateCode.UNKNOWN_ERROR: "unknown error",
    CreateCode.SUCCESS: "created",
    CreateCode.NO_SERVERS: "no servers are available",
    CreateCode.PENDING: "pending",
    CreateCode.MAX_CHARACTERS: "the account has all the characters it may have",
    CreateCode.INVALID_RACE: "invalid race",
    CreateCode.INVALID_CITY: "invalid city",
    CreateCode.INVALID_CLASS: "invalid class",
    CreateCode.INVALID_GENDER: "invalid gender",
    CreateCode.INVALID_FIRST_LEVEL: "invalid first level",
    CreateCode.BAD_NAME_LENGTH: "the name is too short or too long",
    CreateCode.INVALID_NAME: "the name has characters that are not letters",
    CreateCode.NAME_FILTER: "the name is blocked by the name filter",
    CreateCode.NAME_TAKEN: "the name is taken",
    CreateCode.OVERLOADED: "the server is overloaded",
    CreateCode.UNKNOWN_ERROR_2: "unknown error 2",
    CreateCode.INVALID_FEATURES: "invalid features",
    CreateCode.INVALID_FEATURES_2: "invalid features",
    CreateCode.INVALID_APPEARANCE: "invalid race appearance",
}

DELETE_TEXTS: Mapping[int, str] = {
    DeleteCode.REFUSED: "refused",
    DeleteCode.SUCCESS: "deleted",
    DeleteCode.NOT_FOUND: "not found",
}

PLAY_TEXTS: Mapping[int, str] = {
    PlayCode.PROBLEM: "a problem with the world or the character",
    PlayCode.SUCCESS: "go",
    PlayCode.ZONE_DOWN: "the zone is down",
    PlayCode.CHARACTER_NOT_LOADED: "the character could not be loaded",
    PlayCode.CHARACTER_NOT_FOUND: "the character was not found",
    PlayCode.ACCOUNT_IN_USE: "the account is in use",
    PlayCode.TIMEOUT: "the world did not answer in time",
    PlayCode.SHUTTING_DOWN: "the world is shutting down",
    PlayCode.LOADING_ERROR: "the character could not be loaded",
    PlayCode.EXCHANGE_SERVER: "the character belongs to an exchange server",
    PlayCode.OTHER_REGION: "the character belongs to another region",
    PlayCode.INVALID_CLASS: "invalid class",
    PlayCode.TOO_MANY_CHARACTERS: "too many characters",
    PlayCode.EXPANSION_MISSING: "an expansion is missing",
    PlayCode.BANNED: "banned",
    PlayCode.PROHIBITED: "prohibited",
    PlayCode.WORLD_FULL: "the world is full",
}


def text_of(texts: Mapping[int, str], code: int) -> str:
    """Return the text of a reply code, or ``"unknown reason"``."""
    return texts.get(code, "unknown reason")
