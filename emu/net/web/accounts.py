"""`/account`: the page on which players register and change their passwords.

It works without JavaScript: its forms are answered with the page and a message. A request with a
JSON body is answered with JSON. Every address is missing while `login.registration` is off.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from string import Template
from typing import Any, Final

from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request

from emu.admin.web.accounts import (
    AccountAction,
    AccountActionRefused,
    AccountPage,
    ActionDenial,
)
from emu.admin.web.public import PageLink, link_list
from emu.admin.web.requests import JSON, Fields, RequestGate, read_fields
from emu.admin.web.sessions import (
    BAD_REQUEST,
    BUSY,
    FORBIDDEN,
    NOT_FOUND,
    TOO_MANY,
    RequestRefused,
    SignInRules,
    SignIns,
)
from emu.config.administration import WebConfig
from emu.errors import StoreError
from emu.limits.addresses import host_port, reachable
from emu.login.passwords import MAX_PASSWORD
from emu.login.registration import (
    AccountRegistration,
    RegistrationDenial,
    RegistrationRefusal,
)
from emu.model import Account
from emu.net.logs import logger
from emu.net.scheduler import Scheduler, Tasks
from emu.net.watch import RefusalLog, Watch
from emu.net.web.dashboard import body_of, header, origin_of
from emu.net.web.resources import Folder, InterruptiblePauses, json_body, prepare, unsupported

_log = logger("web")

PATH: Final = "account"
NAME_TAKEN: Final = 409
CODES: Final = {
    RegistrationRefusal.NAME_NOT_ALLOWED: BAD_REQUEST,
    RegistrationRefusal.PASSWORD_NOT_ALLOWED: BAD_REQUEST,
    RegistrationRefusal.NAME_TAKEN: NAME_TAKEN,
    RegistrationRefusal.TOO_MANY_ATTEMPTS: TOO_MANY,
    RegistrationRefusal.BUSY: BUSY,
}
"""The HTTP status of each refusal; others are 403."""
FAILURES: Final = frozenset((RegistrationRefusal.WRONG_CODE, RegistrationRefusal.WRONG_PASSWORD))


class RegisteringPlayers:
    """Implements `emu.admin.web.accounts.PlayerAccounts`."""

    def __init__(self, registration: AccountRegistration) -> None:
        self._registration = registration

    async def register(
        self, name: str, password: str, code: str, address: str, wanted: Callable[[], bool]
    ) -> Account | ActionDenial:
        """Create an account."""
        return _denial_of(await self._registration.register(name, password, code, address, wanted))

    async def change_password(
        self, name: str, present: str, new: str, address: str, wanted: Callable[[], bool]
    ) -> Account | ActionDenial:
        """Replace a password whose present one is given."""
        return _denial_of(
            await self._registration.change_password(name, present, new, address, wanted)
        )


def _denial_of(done: Account | RegistrationDenial) -> Account | ActionDenial:
    if isinstance(done, Account):
        return done
    code = CODES.get(done.reason, FORBIDDEN)
    return ActionDenial(code, done.reason, done.text, is_failure=done.reason in FAILURES)


class AccountEndpoint:
    """The running page. Call `start`, then `stop`; `root` is the resource."""

    def __init__(
        self,
        config: WebConfig,
        registration: AccountRegistration,
        scheduler: Scheduler,
        watch: Watch,
        template: str,
    ) -> None:
        """`template` is account.html."""
        self._registration = registration
        self._gate = RequestGate(config.url, config.proxies)
        self._template = Template(template)
        self._tasks = Tasks(_log)
        self._pauses = InterruptiblePauses(scheduler)
        self._refusals = RefusalLog(_log, scheduler)
        self._page = AccountPage(
            RegisteringPlayers(registration),
            SignIns(SignInRules()),
            clock=scheduler,
            pause=self._pauses.wait,
            report=watch.port("accounts", self._write),
        )
        watch.reasons(
            "registrations",
            "Accounts registered, passwords changed, and refused requests for them on the page.",
            lambda: self._page.counters,
        )
        self.root = _AccountFolder(self)
        self.links: list[PageLink] = []
        """Links to other pages of this server."""

    @property
    def is_enabled(self) -> bool:
        """Whether players may register now."""
        return self._registration.config.enabled

    def start(self) -> None:
        """Start summarizing refusals for the log."""
        self._refusals.start()

    def configure(self, config: WebConfig) -> None:
        """Change settings."""
        self._gate = RequestGate(config.url, config.proxies)

    async def stop(self) -> None:
        """Answer all waiting requests."""
        self._pauses.end()
        await self._tasks.finished()
        self._refusals.stop()

    def show(self, request: Request) -> bytes:
        """Answer with the page."""
        try:
            # A request past the proxy is refused before anything is shown.
            self._gate.address(origin_of(request))
        except RequestRefused as refusal:
            return self._shown(request, refusal.code, refusal.text)
        return self._shown(request, 200, "")

    def serve(self, request: Request, action: AccountAction) -> None:
        """Carry out a request and answer it."""
        self._tasks.spawn(self._serve(request, action))

    async def _serve(self, request: Request, action: AccountAction) -> None:
        gone = request.notifyFinish()
        gone.addErrback(lambda _gone: None)
        # The answer if anything below raises: the browser must not wait for ever.
        code, text, name = 500, "The request failed. The operator's log has the reason.", ""
        try:
            address = self._gate.admit(origin_of(request))
            fields = self._fields(request)
            name = fields.get("name", "")
            code, text = 200, await self._page.act(action, fields, address, lambda: not gone.called)
            # After success the form is shown empty.
            name = ""
        except RequestRefused as refusal:
            self._page.counters[refusal.reason] += 1
            code, text = refusal.code, refusal.text
            if refusal.wait:
                request.setHeader("Retry-After", str(round(refusal.wait)))
        except StoreError as error:
            _log.error("a request at /account failed: {reason}", reason=str(error))
            code, text = BUSY, "The database does not answer. Try again in a moment."
        finally:
            # Twisted raises when a request of a lost connection is finished.
            if not gone.called:
                self._finish(request, code, text, action, name)

    def _fields(self, request: Request) -> Fields:
        return read_fields(header(request, b"content-type"), body_of(request))

    def _finish(
        self, request: Request, code: int, text: str, action: AccountAction, name: str
    ) -> None:
        if header(request, b"content-type").partition(";")[0].strip().lower() == JSON:
            body = json_body(request, {"ok": code == 200, "text": text}, code)
        else:
            body = self._shown(request, code, text, action, name)
        request.setHeader("Content-Length", str(len(body)))
        request.write(body)
        request.finish()

    def _shown(
        self,
        request: Request,
        code: int,
        text: str,
        action: AccountAction | None = None,
        name: str = "",
    ) -> bytes:
        """Return the page with a message, and a name in the form that was sent."""
        prepare(request, "text/html; charset=utf-8", code)
        # With the stricter policy of other pages, browsers would send no Origin with the forms.
        request.setHeader("Referrer-Policy", "same-origin")
        names = {one: escape(name) if one is action else "" for one in AccountAction}
        config = self._registration.config
        message = ""
        if text:
            kind, role = ("good", "status") if code == 200 else ("bad", "alert")
            message = f'<p class="whole message {kind}" role="{role}">{escape(text)}</p>'
        # The page of an action lies one folder deeper, so its links need a way back.
        base = "" if action is None else "../"
        return self._template.substitute(
            base=base,
            message=message,
            register_name=names[AccountAction.REGISTER],
            password_name=names[AccountAction.PASSWORD],
            shortest=config.shortest_password,
            longest=MAX_PASSWORD,
            code_hidden="" if config.invite_code else "hidden",
            code_required="required" if config.invite_code else "disabled",
            links=link_list(PageLink(base + one.path, one.text) for one in self.links),
        ).encode("utf-8", "replace")

    def _write(self, event: Any) -> None:
        """Log an event; repeated ones are summarized."""
        if isinstance(event, AccountActionRefused):
            kind = f"requests at /{PATH}/{event.action} refused"
            if self._refusals.is_news(kind, "", event.address, event.reason):
                _log.warn(
                    "/{path}/{action} from {address} refused: {reason}",
                    path=PATH, action=event.action, address=event.address, reason=event.reason,
                )  # fmt: skip
        elif self._refusals.is_within_rate(event.kind, "", event.address, event.kind):
            _log.info(event.template, name=event.name, address=event.address)


class _AccountFolder(Folder):
    """The page at `/account`, and its requests below."""

    def __init__(self, endpoint: AccountEndpoint) -> None:
        super().__init__()
        self._endpoint = endpoint

    def getChild(self, path: bytes, request: Request) -> Resource:
        """Return the resource of a request by its name; called by Twisted."""
        names = {one.value.encode(): one for one in AccountAction}
        # A reload may have switched registration off after the page was made.
        if not self._endpoint.is_enabled or path not in names:
            return super().getChild(path, request)
        return _ActionResource(self._endpoint, names[path])

    def render(self, request: Request) -> bytes:
        """Answer with the page; called by Twisted."""
        if not self._endpoint.is_enabled or request.path != f"/{PATH}".encode():
            return super().render(request)
        if request.method not in (b"GET", b"HEAD"):
            return unsupported(request, (b"GET", b"HEAD"))
        return self._endpoint.show(request)


class _ActionResource(Resource):
    """A request of the page, by POST only."""

    isLeaf = True

    def __init__(self, endpoint: AccountEndpoint, action: AccountAction) -> None:
        super().__init__()
        self._endpoint = endpoint
        self._action = action

    def render(self, request: Request) -> Any:
        """Answer; called by Twisted."""
        if request.postpath:
            prepare(request, "text/plain; charset=utf-8", NOT_FOUND)
            return b"there is nothing here\n"
        if request.method != b"POST":
            return unsupported(request, (b"POST",))
        self._endpoint.serve(request, self._action)
        return NOT_DONE_YET


def loopback_hint(host: str, port: int) -> str:
    """Return the line of the log for a page that only this machine reaches."""
    at = host_port(reachable(host), port)
    return (
        f"players register at http://{at}/{PATH}, from this machine only: for others set web.url"
        " to the address of a proxy with TLS"
    )


def public_hint(url: str) -> str:
    """Return the line of the log for a page behind a proxy."""
    return f"players register at {url}/{PATH}"
