"""OP_LoginRequestMsg: from a connected client to a logged-in one, or to a denial."""

from __future__ import annotations

from emu.errors import StoreError, UnknownVersion
from emu.login.accounts.verdicts import Refused
from emu.login.client import Client, ClientState, guarded
from emu.login.events import LoginAccepted, LoginRefused
from emu.login.messages import denials, replies
from emu.login.messages.login_request import LoginRequest, account_of, read_login_request
from emu.login.service import LoginService
from emu.model import Account, LoginCode
from emu.times import Monotonic


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
    client.send("OP_LoginReplyMsg", replies.denial(client.dialect, code or denials.code_of(reason)))
    client.set_state(ClientState.REFUSED)
    client.clear_deadline("login")
    client.set_deadline("disconnect", service.clock.now() + service.config.denial_linger)


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
