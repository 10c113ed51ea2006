"""`/api/admin/`: the dashboard over HTTP.

GET `session` returns the signed-in user; POST `sign-in`, `sign-out` and `actions/NAME` change
something. Every answer is JSON with the result in `text` and whether it succeeded in `ok`.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Final

from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request

from emu.admin.web.dashboard import (
    Dashboard,
    DashboardAccounts,
    SignedInUser,
    SignInDenial,
    action_named,
)
from emu.admin.web.requests import Fields, Origin, RequestGate, read_fields
from emu.admin.web.sessions import (
    BUSY,
    FORBIDDEN,
    IMPOSSIBLE,
    NOT_SIGNED_IN,
    TOO_MANY,
    RequestRefused,
    SessionRules,
    Sessions,
    SignInRefused,
    SignInRules,
    SignIns,
)
from emu.admin.web.views import VIEWS
from emu.commands import Registry
from emu.config.administration import WebConfig
from emu.errors import StoreError
from emu.limits.addresses import plain_host
from emu.login.accounts import AccountService
from emu.login.ports import LoginGranted, LoginRefusalReason
from emu.model import Account
from emu.net.logs import logger
from emu.net.scheduler import DelayedCall, Scheduler, Tasks
from emu.net.store import Storage
from emu.net.watch import RefusalLog, Watch
from emu.net.web.resources import Folder, InterruptiblePauses, json_answer, json_body
from emu.times import Clock

UNCHECKED: Final = {LoginRefusalReason.BUSY: BUSY, LoginRefusalReason.TOO_MANY_ATTEMPTS: TOO_MANY}
"""Refusals without a password check, with the HTTP status of the answer."""
NO_VERSION = 0
"""The client version of a caller without a game client."""


class StaffAccounts:
    """Implements `emu.admin.web.dashboard.DashboardAccounts`."""

    def __init__(self, service: AccountService, storage: Storage, clock: Clock) -> None:
        self._service = service
        self._clock = clock
        self.find = storage.accounts.find_account
        self.rank_of = storage.world_characters.rank_of

    async def verify(
        self, name: str, password: str, address: str, wanted: Callable[[], bool]
    ) -> Account | SignInDenial:
        """Check a password in a worker thread, when it is the address's turn."""
        verdict = await self._service.authenticate(
            name, password.encode(), address, NO_VERSION, self._clock.now(), wanted=wanted
        )
        if isinstance(verdict, LoginGranted):
            return verdict.account
        return SignInDenial(verdict.reason, UNCHECKED.get(verdict.reason, FORBIDDEN))


_log = logger("web")

CSRF_HEADER: Final = b"x-csrf-token"
CSRF_FIELD: Final = "csrf"
REVIEW: Final = 10.0
"""Seconds between checks of all sessions: a session of a banned account lasts no longer."""
JsonAnswer = tuple[int, dict[str, Any]]
"""The HTTP status and the JSON of an answer."""
Handler = Callable[[Request], Awaitable[JsonAnswer]]


def disabled_dashboard() -> Resource:
    """Return the resource for `/api/admin/` without a dashboard: it answers that it is disabled."""
    root = Folder()
    root.putChild(b"session", json_answer(lambda: {"enabled": False}))
    return root


class DashboardEndpoint:
    """The running dashboard. Call `start`, then `stop`; `root` is the resource."""

    def __init__(
        self,
        config: WebConfig,
        accounts: DashboardAccounts,
        registry: Registry,
        scheduler: Scheduler,
        watch: Watch,
    ) -> None:
        self._gate = RequestGate(config.url, config.proxies)
        self._tasks = Tasks(_log)
        self._scheduler = scheduler
        self._reviewing: DelayedCall | None = None
        self._pauses = InterruptiblePauses(scheduler)
        self._refusals = RefusalLog(_log, scheduler)
        self._sessions = Sessions(session_rules(config), os.urandom)
        self.dashboard = Dashboard(
            accounts,
            registry,
            self._sessions,
            SignIns(SignInRules()),
            clock=scheduler,
            pause=self._pauses.wait,
            report=watch.port("dashboard", self._write),
            views=VIEWS,
        )
        watch.reasons(
            "web_refusals",
            "Refused requests of the dashboard.",
            lambda: self.dashboard.counters,
        )
        self.root = Folder()
        self.root.putChild(b"session", _Asked(self, b"GET", self._session))
        self.root.putChild(b"sign-in", _Asked(self, b"POST", self._sign_in))
        self.root.putChild(b"sign-out", _Asked(self, b"POST", self._sign_out))
        self.root.putChild(b"actions", _Actions(self))

    def start(self) -> None:
        """Start summarizing refusals for the log, and checking the sessions."""
        self._refusals.start()
        self._reviewing = self._scheduler.every(REVIEW, self._review)

    def configure(self, config: WebConfig) -> None:
        """Change settings. Sessions stay unless the new limits end them."""
        self._gate = RequestGate(config.url, config.proxies)
        self._sessions.rules = session_rules(config)

    async def stop(self) -> None:
        """Answer all waiting requests."""
        if self._reviewing is not None:
            self._reviewing.cancel()
        self._pauses.end()
        await self._tasks.finished()
        self._refusals.stop()

    def is_signed_in(self, request: Request) -> bool:
        """Return whether a request has a session. The account is not read."""
        origin = origin_of(request)
        try:
            self._gate.address(origin)
        except RequestRefused:
            return False
        return self.dashboard.has_session(self._token(request, origin))

    async def has_rank(self, request: Request) -> bool:
        """Return whether the account of a request's session has a rank now.

        False if the database does not answer; the log has the reason.
        """
        origin = origin_of(request)
        try:
            user = await self.dashboard.user(
                self._token(request, origin), self._gate.address(origin)
            )
        except StoreError as error:
            _log.error("the page's request failed: {reason}", reason=str(error))
            return False
        except RequestRefused:
            return False
        return user is not None

    async def reader(self, request: Request) -> SignedInUser | None:
        """Return the user of a request that only reads. Raises as `Dashboard.user`."""
        origin = origin_of(request)
        token, address = self._token(request, origin), self._gate.address(origin)
        return await self.dashboard.user(token, address)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine whose fault is logged."""
        self._tasks.spawn(work)

    def serve(self, request: Request, answer: Handler) -> None:
        """Answer a request when the answer is ready."""
        self._tasks.spawn(self._serve(request, answer))

    async def _serve(self, request: Request, answer: Handler) -> None:
        ends = request.notifyFinish()
        ends.addErrback(lambda _gone: None)
        # The answer if anything below raises: the browser must not wait for ever.
        code, value = 500, {"ok": False, "text": "the request failed; see the server's log"}
        try:
            code, value = await answer(request)
        except RequestRefused as refusal:
            self.dashboard.counters[refusal.reason] += 1
            code, value = refusal.code, {"ok": False, "text": refusal.text}
            if refusal.wait:
                request.setHeader("Retry-After", str(round(refusal.wait)))
        except StoreError as error:
            _log.error("the page's request failed: {reason}", reason=str(error))
            code, value = BUSY, {"ok": False, "text": "the database does not answer; try again"}
        finally:
            # Twisted raises when a request of a lost connection is finished.
            if not ends.called:
                finish(request, code, value)

    def _review(self) -> None:
        """End sessions of accounts that have lost their rights; their streams become public."""
        if self.dashboard.signed_in:
            self._tasks.spawn(self._review_all())

    async def _review_all(self) -> None:
        try:
            await self.dashboard.review()
        except StoreError as error:
            _log.error("the page's request failed: {reason}", reason=str(error))

    async def _session(self, request: Request) -> JsonAnswer:
        """Answer with the signed-in user."""
        user = await self.reader(request)
        return 200, {"enabled": True, "signed_in": user is not None} | self._shown(user)

    async def _sign_in(self, request: Request) -> JsonAnswer:
        origin, address, fields = self._read(request)
        gone = request.notifyFinish()
        gone.addErrback(lambda _gone: None)
        token, user = await self.dashboard.sign_in(fields, address, lambda: not gone.called)
        # A browser has one session: signing in again ends the one before.
        before = await self.dashboard.user(self._token(request, origin), address)
        if before is not None:
            self.dashboard.sign_out(before)
        self._give_cookie(request, origin, token)
        value = {"ok": True, "text": f"signed in as {user.session.name}", "signed_in": True}
        return 200, value | self._shown(user)

    async def _sign_out(self, request: Request) -> JsonAnswer:
        user, origin, _ = await self._visitor(request)
        self.dashboard.sign_out(user)
        self._give_cookie(request, origin, "")
        return 200, {"ok": True, "text": "signed out", "signed_in": False}

    async def act(self, name: str, request: Request) -> JsonAnswer:
        """Run an action."""
        user, _, fields = await self._visitor(request)
        reply = await self.dashboard.act(user, name, fields)
        value: dict[str, Any] = {"ok": reply.ok, "text": reply.text or "done"}
        if reply.ok and action_named(name).has_data:
            value["data"] = reply.data
        return 200 if reply.ok else IMPOSSIBLE, value

    async def _visitor(self, request: Request) -> tuple[SignedInUser, Origin, Fields]:
        """Return the user, origin and fields of a request. Raises `RequestRefused`."""
        origin, address, fields = self._read(request)
        # Scripts send a header, plain forms a field.
        csrf = header(request, CSRF_HEADER) or fields.pop(CSRF_FIELD, "")
        # The token is no argument of the action.
        fields.pop(CSRF_FIELD, None)
        user = await self.dashboard.visitor(self._token(request, origin), csrf, address)
        return user, origin, fields

    def _read(self, request: Request) -> tuple[Origin, str, Fields]:
        """Return origin, client address and fields of a request that changes something.

        Raises `RequestRefused`.
        """
        origin = origin_of(request)
        address = self._gate.admit(origin)
        fields = read_fields(header(request, b"content-type"), body_of(request))
        return origin, address, fields

    def _shown(self, user: SignedInUser | None) -> dict[str, Any]:
        return self.dashboard.shown(user) if user is not None else {}

    def _token(self, request: Request, origin: Origin) -> str:
        found = (request.getCookie(name.encode()) for name in self._gate.cookies(origin))
        cookie: bytes = next(filter(None, found), b"")
        return cookie.decode("latin-1")

    def _give_cookie(self, request: Request, origin: Origin, token: str) -> None:
        """Set the cookie for the browser's session; an empty token deletes it."""
        request.addCookie(
            # A page of another site must not send the cookie, and no script may read it.
            self._gate.cookie(origin), token, path="/", httpOnly=True, sameSite="strict",
            # No age: the browser forgets the cookie when it is closed. "0" deletes it at once.
            secure=self._gate.is_secure(origin), max_age=None if token else "0",
        )  # fmt: skip

    def _write(self, event: Any) -> None:
        """Log an event; repeated wrong passwords are summarized."""
        if not isinstance(event, SignInRefused):
            _log.info("{text}", text=event.text)
        elif self._refusals.is_news("sign-ins refused", "", event.address, event.reason):
            _log.warn(
                "sign-in from {address} refused: {reason}",
                address=event.address, reason=event.reason,
            )  # fmt: skip


class _Asked(Resource):
    """A path with one method."""

    isLeaf = True

    def __init__(
        self,
        endpoint: DashboardEndpoint,
        method: bytes,
        answer: Handler,
    ) -> None:
        super().__init__()
        self._endpoint = endpoint
        self._method = method
        self._answer = answer

    def render(self, request: Request) -> Any:
        """Answer; called by Twisted."""
        if request.method == self._method and not request.postpath:
            self._endpoint.serve(request, self._answer)
            return NOT_DONE_YET
        if request.postpath:
            return written(request, 404, {"ok": False, "text": "there is nothing here"})
        request.setHeader("Allow", self._method.decode())
        text = f"this takes {self._method.decode()} alone"
        return written(request, 405, {"ok": False, "text": text})


class _Actions(Folder):
    """The actions by their names."""

    def __init__(self, endpoint: DashboardEndpoint) -> None:
        super().__init__()
        self._endpoint = endpoint

    def getChild(self, path: bytes, request: Request) -> Resource:
        """Return the resource of an action; called by Twisted."""
        if not path:
            return super().getChild(path, request)
        return _Asked(self._endpoint, b"POST", partial(self._endpoint.act, path.decode("latin-1")))


def session_rules(config: WebConfig) -> SessionRules:
    """Return how long sessions last."""
    return SessionRules(idle=config.idle_timeout, longest=config.session_timeout)


def origin_of(request: Request) -> Origin:
    """Return the headers that show where a request comes from."""
    peer: Any = request.getClientAddress()
    return Origin(
        peer=plain_host(str(getattr(peer, "host", ""))),
        host=header(request, b"host"),
        origin=header(request, b"origin"),
        fetch_site=header(request, b"sec-fetch-site"),
        forwarded_for=header(request, b"x-forwarded-for"),
    )


def header(request: Request, name: bytes) -> str:
    """Return a header, empty if it is missing; several are joined, which matches no valid value."""
    values: Sequence[bytes] = request.requestHeaders.getRawHeaders(name, [])
    return b",".join(values).decode("latin-1")


def body_of(request: Request) -> bytes:
    """Return the body of a request."""
    content: Any = request.content
    return bytes(content.read())


def written(request: Request, code: int, value: dict[str, Any]) -> bytes:
    """Set the headers of an answer and return its body."""
    if code == NOT_SIGNED_IN:
        request.setHeader("WWW-Authenticate", 'Session realm="emu"')
    return json_body(request, value, code)


def finish(request: Request, code: int, value: dict[str, Any]) -> None:
    """Send a delayed answer."""
    body = written(request, code, value)
    request.setHeader("Content-Length", str(len(body)))
    request.write(body)
    request.finish()
