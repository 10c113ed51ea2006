"""Reading OP_LoginRequestMsg: who wants in, and which client version asks.

Sources: docs/protocol/login.md#request, docs/protocol/login.md#version.

Two layouts are in use and nothing in the message says which: the classic one, whose version field
is read first, and the one of 1208 and later. Fields past the end of a short message count as
zero or empty, as the 2006 client's request ends right after its version.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from emu.dialects import Dialects
from emu.dialects.text import read_name, read_secret
from emu.errors import UnknownVersion

CLASSIC_LAYOUT = 1
LATER_LAYOUT = 1208


@dataclass(frozen=True, slots=True)
class LoginRequest:
    """Account name, password bytes and client version of a login request."""

    account: str
    account_size: int
    """Bytes that the name took on the wire; bounds are checked against this."""
    password: bytes = field(repr=False)
    version: int


def read_login_request(payload: bytes, dialects: Dialects) -> LoginRequest:
    """Read a login request and find the client's version.

    `version` of the result is one that `dialects` can serve. Raises `UnknownVersion` with the
    version that was found when there is none, and `MalformedMessage` when not even the strings
    can be read.
    """
    classic = dialects.catalog.layout("LS_LoginRequest", CLASSIC_LAYOUT).decode_short(payload)
    version = int(classic["version"])
    if dialects.knows(version):
        return _request(classic, version)
    later = dialects.catalog.layout("LS_LoginRequest", LATER_LAYOUT).decode_short(payload)
    version = int(later["version"]) or version
    if dialects.knows(version):
        return _request(later, version)
    raise UnknownVersion(version)


def account_of(payload: bytes, dialects: Dialects) -> str:
    """Return the account name of a login request whose version is unknown, for the log."""
    classic = dialects.catalog.layout("LS_LoginRequest", CLASSIC_LAYOUT).decode_short(payload)
    return read_name(str(classic["username"]))


def _request(values: dict[str, Any], version: int) -> LoginRequest:
    name = str(values["username"])
    return LoginRequest(
        account=read_name(name),
        account_size=len(name),
        password=read_secret(str(values["password"])),
        version=version,
    )
