"""OP_LoginRequestMsg, and the client logs that a client may send after its login.

Sources: docs/protocol/login.md#request, docs/protocol/login.md#version.

Two layouts are in use, and no field of the message distinguishes them: the classic one, whose
version field is read first, and the one of 1208 and later. Fields past the end of a short message
are zero or empty, because the 2006 client's request ends after its version.

Client logs are inflated within bounds. A faulty log never ends the session: a client sends its
alert log right after the login, and a server that fails on it locks real players out
(docs/protocol/login.md#client-logs).
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from emu.dialects import Dialects
from emu.dialects.dialect import read_name, read_secret
from emu.errors import LimitExceeded, MalformedMessage, StoreError, UnknownVersion
from emu.login.client import LOGGED_IN_STATES, Client, ClientDeadline, ClientState, guarded
from emu.login.events import AccountLoggedIn, ClientLogStored, LoginRefused
from emu.login.messages import replies
from emu.login.messages.table import LoginMessageTable, ignored
from emu.login.ports import LoginRefusal, LoginRefusalReason
from emu.login.service import LoginService
from emu.model import Account, ClientLog
from emu.reply_codes import LoginCode
from emu.times import Monotonic

CLASSIC_LAYOUT = 1
LATER_LAYOUT = 1208


@dataclass(frozen=True, slots=True)
class LoginRequest:
    """Account name, password bytes and client version of a login request."""

    account: str
    account_size: int
    """Bytes of the name on the wire; the bounds apply to these."""
    password: bytes = field(repr=False)
    version: int


def read_login_request(payload: bytes, dialects: Dialects) -> LoginRequest:
    """Read a login request and find the client's version.

    `dialects` can serve the version of the result. Raises `UnknownVersion` with the version found
    when it cannot, and `MalformedMessage` when the strings cannot be read.
    """
    classic = dialects.catalog.layout("LS_LoginRequest", CLASSIC_LAYOUT).decode_short(payload)
    version = int(classic["version"])
    # The classic layout first: a version that it reads is only accepted if it can be served.
    if dialects.knows(version):
        return _request(classic, version)
    later = dialects.catalog.layout("LS_LoginRequest", LATER_LAYOUT).decode_short(payload)
    # Zero: the message is too short for this field. The refusal then names the version of the
    # classic layout.
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


CLIENT_LOG_KINDS = {
    "OP_LsClientCrashlogReplyMsg": "Crash Log",
    "OP_LsClientVerifylogReplyMsg": "Verify Log",
    "OP_LsClientAlertlogReplyMsg": "Alert Log",
    "OP_LsClientBaselogReplyMsg": "Base Log",
}
LONG_HEADER = 8
"""u32 size of the rest or of the stream (clients differ), u32 inflated size."""
SHORT_HEADER = 2


def read_client_log(payload: bytes, *, long_header: bool, limit: int) -> str:
    """Return a log's text up to its first NUL.

    The sizes that the client states are not used: the stream has its own end, and `limit` bounds
    the inflated bytes. Raises `MalformedMessage` for a stream that is not zlib and `LimitExceeded`
    for one that is longer than the limit.
    """
    start = LONG_HEADER if long_header else SHORT_HEADER
    if len(payload) <= start:
        raise MalformedMessage("client log without a stream")
    stream = zlib.decompressobj()
    # zlib can expand a few bytes to megabytes, so the output is bounded, not the input.
    try:
        text = stream.decompress(memoryview(payload)[start:], limit)
    except zlib.error as error:
        raise MalformedMessage("client log is not zlib") from error
    # Bytes left over, or a full output without the end of the stream, mean that the log is longer.
    if not stream.eof and (stream.unconsumed_tail or len(text) >= limit):
        raise LimitExceeded("client log too long")
    text = text.partition(b"\0")[0]
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        # Latin-1 accepts every byte: the log is for people, and some letters may be wrong.
        return text.decode("latin-1")


class LoginMessages:
    """Handles the login request and the logs of clients."""

    def __init__(self, service: LoginService) -> None:
        self._service = service

    def register(self, messages: LoginMessageTable) -> None:
        """Add the messages to the table."""
        messages.add_handler("OP_LoginRequestMsg", self.login, frozenset({ClientState.CONNECTED}))
        messages.add_handler("OP_KeymapLoadMsg", ignored, LOGGED_IN_STATES)
        for name, kind in CLIENT_LOG_KINDS.items():
            messages.add_handler(name, partial(self.store_client_log, kind=kind), LOGGED_IN_STATES)

    async def login(self, client: Client, payload: bytes) -> None:
        """Find the version, check name and password, and answer."""
        try:
            request = read_login_request(payload, self._service.dialects)
        except UnknownVersion as error:
            account = account_of(payload, self._service.dialects)
            self.refuse(client, account, str(error), error.version, code=LoginCode.WRONG_VERSION)
            return
        # Only successful logins count, so that a peer cannot use up the limit of another account.
        reason = self._out_of_bounds(request) or self._service.entries.reason_against(
            request.account.casefold(), client.address, self._service.clock.now()
        )
        if reason:
            self.refuse(client, request.account, reason, request.version)
            return
        client.set_state(ClientState.AUTHENTICATING)
        try:
            verdict = await self._service.authenticator.authenticate(
                request.account,
                request.password,
                client.address,
                request.version,
                self._service.clock.now(),
                # A check that waits in the queue is given up when the client has left.
                wanted=lambda: client.state is ClientState.AUTHENTICATING,
            )
        except StoreError as error:
            client.fault(str(error))
            verdict = LoginRefusal(LoginRefusalReason.SERVER_PROBLEM)
        # The session may have ended during the check; a login must not be counted or replace
        # another then.
        if client.state is not ClientState.AUTHENTICATING:
            return
        if isinstance(verdict, LoginRefusal):
            self.refuse(client, request.account, verdict.reason, request.version)
        else:
            self._admit(client, verdict.account, request.version)

    def refuse(
        self,
        client: Client,
        account: str,
        reason: str,
        version: int,
        *,
        code: int | None = None,
    ) -> None:
        """Send the denial, and disconnect a little later so that it leaves first.

        `code` is the denial's code; by default it follows from the reason.
        """
        # An announced test login of the doctor is no attempt of a player.
        if not self._service.is_trial(account):
            self._service.counters["login refused"] += 1
            self._service.log(LoginRefused(client.address, account, reason, version))
        # Every dialect has the same denial, so the one from before the login serves.
        denial = replies.denial(client.dialect, code or replies.denial_code(reason))
        client.send("OP_LoginReplyMsg", denial)
        # The state comes after the denial: a closed client can send nothing.
        client.set_state(ClientState.REFUSED)
        client.clear_deadline(ClientDeadline.LOGIN)
        client.set_deadline(
            ClientDeadline.DISCONNECT,
            Monotonic(self._service.clock.now() + self._service.config.denial_linger),
        )

    def _out_of_bounds(self, request: LoginRequest) -> str | None:
        config = self._service.config
        if not 0 < request.account_size <= config.account_name_size:
            return LoginRefusalReason.NAME_NOT_ALLOWED
        if len(request.password) > config.password_size:
            return LoginRefusalReason.BAD_PASSWORD
        return None

    def _admit(self, client: Client, account: Account, version: int) -> None:
        try:
            dialect = self._service.dialects.for_version(version)
        except UnknownVersion as error:  # The tables were replaced while the password was checked.
            self.refuse(client, account.name, str(error), version, code=LoginCode.WRONG_VERSION)
            return
        client.is_trial = self._service.is_trial(account.name)
        # A trial is no further client of its address: it is never added to `logged_in`.
        if not client.is_trial and self._service.logged_in.is_full(client.address, account.id):
            self.refuse(client, account.name, LoginRefusalReason.TOO_MANY_CLIENTS, version)
            return
        # Counted only now, after the login has succeeded.
        self._service.entries.take(
            account.name.casefold(), client.address, self._service.clock.now()
        )
        client.account = account
        client.dialect = dialect
        client.set_state(ClientState.LOGGED_IN)
        client.trust()
        client.clear_deadline(ClientDeadline.LOGIN)
        if not client.is_trial:
            self._service.client_logged_in(client)
        self._service.counters["login accepted"] += 1
        self._service.log(AccountLoggedIn(client.address, account.name, account.id, version))
        reply = replies.login_reply(
            dialect, self._service.config, account.name, response=LoginCode.ACCEPTED
        )
        client.send("OP_LoginReplyMsg", reply)
        if client.is_trial:
            # A trial must change nothing in the store.
            return
        # The result is not awaited: another program may hold the database's lock, and the player is
        # logged in.
        moment = self._service.clock.moment()
        remembered = self._service.authenticator.remember_login(
            account, client.address, version, moment
        )
        self._service.start(guarded(client, "OP_LoginRequestMsg", remembered))

    async def store_client_log(self, client: Client, payload: bytes, *, kind: str) -> None:
        """Store one client log; count and drop one that cannot be read or is one too many."""
        if client.is_trial:
            return
        config = self._service.config
        if client.logs_stored >= config.client_logs:
            client.drop(kind, "too many client logs")
            return
        long_header = client.dialect.rules.long_log_header
        text = read_client_log(payload, long_header=long_header, limit=config.client_log_bytes)
        # Counted before it is stored, so that parallel logs cannot pass the limit.
        client.logs_stored += 1
        owner = client.owner
        log = ClientLog(
            kind=kind,
            text=text,
            account_id=owner.id,
            account_name=owner.name,
            address=client.address,
            client_version=client.version,
            received=self._service.clock.moment(),
        )
        self._service.start(guarded(client, kind, self._store(log)))  # The result is not awaited.

    async def _store(self, log: ClientLog) -> None:
        await self._service.logs.add_client_log(log)
        self._service.counters["client logs"] += 1
        self._service.log(ClientLogStored(log.address, log.account_name, log.kind, len(log.text)))
