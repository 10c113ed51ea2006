"""Sends the server's events to the web address of ``[webhook]``.

Chooses the events, and speaks HTTP; `emu.admin.webhook` decides what is sent when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final

from twisted.internet.defer import Deferred
from twisted.internet.protocol import Protocol
from twisted.web.client import Agent, FileBodyProducer
from twisted.web.http_headers import Headers
from twisted.web.iweb import IResponse

from emu.admin.webhook import WebhookEvent, WebhookNotice, WebhookQueue
from emu.audit import SANCTIONS
from emu.commands.registry import Use
from emu.config.administration import WebhookConfig
from emu.net.logs import logger
from emu.net.scheduler import Scheduler
from emu.net.watch import Report, Watch
from emu.times import Monotonic
from emu.world.reports import PlayerEntered, PlayerLeft

_log = logger("webhook")
BROADCAST: Final = "broadcast"
"""The command that announces something to all players."""


class _Discard(Protocol):
    """Ends a connection before its body is read: the status is all that counts."""

    def connectionMade(self) -> None:
        assert self.transport is not None  # noqa: S101  # a protocol has one here
        self.transport.loseConnection()


@dataclass(eq=False)
class Webhook:
    """The sender. `start` when the server is ready, `stop` when it stops.

    `conceals` says whether a text names a player whom only game masters may see: such an event is
    not sent.
    """

    config: WebhookConfig
    server: str
    reactor: Any
    scheduler: Scheduler
    watch: Watch
    conceals: Callable[[str], bool]

    def __post_init__(self) -> None:
        self.queue = WebhookQueue(self.config.format, self.server)
        self._timer = self.scheduler.timer(self)
        self._fails = False
        self._under_way: Deferred[Any] | None = None
        self._stopped: Deferred[None] | None = None
        self._subscription: Callable[[], None] | None = None
        self.configure(self.config)
        self.watch.queue("webhook", "Events that wait to be sent.", lambda: len(self.queue))
        self.watch.reasons(
            "webhook_events", "Events for the webhook by result.", lambda: self.queue.counts
        )

    def configure(self, config: WebhookConfig) -> None:
        """Use other settings from now on."""
        self.config = config
        self.queue.form = config.format
        # The world reports each line of chat: without an address nothing looks at the reports.
        if config.url and self._subscription is None:
            self._subscription = self.watch.reports.subscribe(self._take)
        elif not config.url:
            self._unsubscribe()

    def start(self, *, after_crash: bool) -> None:
        """Report that the server is up."""
        if after_crash:
            text = f"{self.server} is up again. It had ended without an orderly stop."
            self._add(WebhookEvent.CRASH, text)
        else:
            self._add(WebhookEvent.UP, f"{self.server} is up.")

    async def stop(self) -> None:
        """Report that the server goes down, and wait until that has been sent or refused."""
        self._unsubscribe()
        self._add(WebhookEvent.DOWN, f"{self.server} goes down.")
        self.queue.close()
        self.handle_timer(self.scheduler.now())
        if len(self.queue):
            self._stopped = Deferred()
            await self._stopped

    def abandon(self) -> None:
        """Send nothing more."""
        self.scheduler.drop(self._timer)
        if self._under_way is not None:
            self._under_way.cancel()

    def _unsubscribe(self) -> None:
        if self._subscription is not None:
            self._subscription()
            self._subscription = None

    # -- events -----------------------------------------------------------------------------------

    def _take(self, report: Report) -> None:
        for event, text, values in notices_of(report.event):
            if not self.conceals(text):
                self._add(event, text, **values)

    def _add(self, event: WebhookEvent, text: str, **values: str) -> None:
        if not self.config.url or event not in self.config.events:
            return
        moment = self.scheduler.moment()
        self.queue.add_notice(WebhookNotice(event, text, moment, tuple(values.items())))
        self._arm()

    def _arm(self) -> None:
        due = self.queue.get_timer()
        self.scheduler.arm(self._timer, None if due is None else max(due, self.scheduler.now()))

    # -- requests ---------------------------------------------------------------------------------

    def handle_timer(self, now: Monotonic) -> None:
        """Send the next request, if it is time."""
        body = self.queue.next_request(now)
        if body is not None:
            self._under_way = Deferred.fromCoroutine(self._send(self.config, body))
            # The agent limits only the connecting; this limits the whole request.
            self._under_way.addTimeout(self.config.timeout, self.reactor).addBoth(self._done)
        self._arm()

    async def _send(self, config: WebhookConfig, body: bytes) -> tuple[int, float]:
        """Return the status of the answer, and the seconds that the receiver asks to wait."""
        # An agent for each request: events are rare, and a reload may change the timeout.
        agent = Agent(self.reactor, connectTimeout=config.timeout)  # type: ignore[no-untyped-call]
        headers = Headers({"Content-Type": ["application/json"], "User-Agent": ["emu"]})
        response: IResponse = await agent.request(
            b"POST",
            config.url.encode(),
            headers,
            FileBodyProducer(BytesIO(body)),  # type: ignore[no-untyped-call]
        )
        waits = response.headers.getRawHeaders("Retry-After", ["0"])[0]
        response.deliverBody(_Discard())  # type: ignore[no-untyped-call]
        # The header may also be a date, which counts as no pause.
        return response.code, float(waits) if waits.replace(".", "", 1).isdigit() else 0.0

    def _done(self, result: Any) -> None:
        self._under_way = None
        status, retry_after = result if isinstance(result, tuple) else (0, 0.0)
        fails = not 200 <= status < 300
        # One line for each outage, not for each event.
        if fails and not self._fails:
            reason = f"status {status}" if status else "no answer"
            _log.warn("an event could not be sent: {reason}; see [webhook] url", reason=reason)
        elif self._fails and not fails:
            _log.info("events are sent again")
        self._fails = fails
        self.queue.answered(status, self.scheduler.now(), retry_after)
        self._arm()
        if self._stopped is not None and not len(self.queue):
            stopped, self._stopped = self._stopped, None
            stopped.callback(None)


def notices_of(event: object) -> Iterator[tuple[WebhookEvent, str, dict[str, str]]]:
    """Yield kind, text and values of what a webhook may report of one of the server's events."""
    match event:
        case PlayerEntered(name=name, zone=zone):
            yield WebhookEvent.ENTER, f"{name} entered {zone}.", {"player": name, "zone": zone}
        case PlayerLeft(name=name, zone=zone):
            yield WebhookEvent.LEAVE, f"{name} left.", {"player": name, "zone": zone}
        case Use(caller=caller, line=line, result=result, ok=True) as use:
            if use.command == BROADCAST:
                message = line.partition(" ")[2]
                values = {"by": caller, "message": message}
                yield WebhookEvent.BROADCAST, f"{caller} announces: {message}", values
            elif use.command in SANCTIONS:
                # The line has the reason; `***` stands for a password in it.
                values = {
                    "by": caller, "command": line, "act": use.command,
                    "subject": use.subject, "before": use.change.before, "after": use.change.after,
                    "reason": use.reason,
                }  # fmt: skip
                yield WebhookEvent.BAN, f"{caller}: {result} ({line})", values
