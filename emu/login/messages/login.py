"""OP_LoginRequestMsg: from a connected client to a logged-in one, or to a denial.

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
from emu.errors import StoreError, UnknownVersion
from emu.login.client import Client, ClientState, guarded
from emu.login.events import LoginAccepted, LoginRefused
from emu.login.messages import replies
from emu.login.ports import Refused
from emu.login.service import LoginService
from emu.model import Account, LoginCode
from emu.times import Monotonic

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


async def login(service: LoginService, client: Client, payload: bytes, now: Monotonic) -> None:
    """Find the version, check name and password, and answer."""
    try:
        request = read_login_request(payload, service.dialects)
    except UnknownVersion as error:
        account = account_of(payload, service.dialects)
        refuse(service, client, account, str(error), error.version, code=LoginCode.WRONG_VERSION)
        return
    reason = _out_of_bounds(service, request)
    if reason:
        refuse(service, client, request.account, reason, request.version)
        return
    client.set_state(ClientState.AUTHENTICATING)
    try:
        verdict = await service.authenticator.authenticate(
            request.account,
            request.password,
            client.address,
            request.version,
            now,
            wanted=lambda: client.state is ClientState.AUTHENTICATING,
        )
    except StoreError as error:
        client.fault(str(error))
        verdict = Refused("server problem")
    if client.state is not ClientState.AUTHENTICATING:
        return
    if isinstance(verdict, Refused):
        refuse(service, client, request.account, verdict.reason, request.version)
    else:
        _admit(service, client, verdict.account, request.version)


def refuse(
    service: LoginService,
    client: Client,
    account: str,
    reason: str,
    version: int,
    *,
    code: int | None = None,
) -> None:
    """Send the denial, and disconnect a little later so that it leaves first.

    `code` is what the client is told, by default what belongs to the reason.
    """
    service.counters["login refused"] += 1
    service.log(LoginRefused(client.address, account, reason, version))
    denial = replies.denial(client.dialect, code or replies.denial_code(reason))
    client.send("OP_LoginReplyMsg", denial)
    client.set_state(ClientState.REFUSED)
    client.clear_deadline("login")
    client.set_deadline("disconnect", Monotonic(service.clock.now() + service.config.denial_linger))


def _out_of_bounds(service: LoginService, request: LoginRequest) -> str | None:
    config = service.config
    if not 0 < request.account_size <= config.account_name_size:
        return "name not allowed"
    if len(request.password) > config.password_size:
        return "bad password"
    return None


def _admit(service: LoginService, client: Client, account: Account, version: int) -> None:
    try:
        dialect = service.dialects.for_version(version)
    except UnknownVersion as error:  # the tables were replaced while the password was checked
        refuse(service, client, account.name, str(error), version, code=LoginCode.WRONG_VERSION)
        return
    if service.logged_in.is_full(client.address, account.id):
        reason = "too many clients from this address"
        refuse(service, client, account.name, reason, version)
        return
    client.account = account
    client.dialect = dialect
    client.set_state(ClientState.LOGGED_IN)
    client.trust()
    client.clear_deadline("login")
    service.client_logged_in(client)
    service.counters["login accepted"] += 1
    service.log(LoginAccepted(client.address, account.name, account.id, version))
    reply = replies.login_reply(dialect, service.config, account.name, response=LoginCode.ACCEPTED)
    client.send("OP_LoginReplyMsg", reply)
    # Nobody waits for it: another program may hold the database's lock, and the player is let in.
    moment = service.clock.moment()
    remembered = service.authenticator.remember_login(account, client.address, version, moment)
    service.start(guarded(client, "OP_LoginRequestMsg", remembered))
