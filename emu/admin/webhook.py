"""Webhook: which events of the server are sent to a web address, and in which order.

No input or output: `emu.net.webhook` sends what `WebhookQueue.next_request` returns and reports the
answer. A slow or dead receiver costs a bounded queue and nothing else.

Formats: ``discord`` is the body of Discord's "execute webhook" request, ``json`` is our own and
described in docs/guides/monitoring.md.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

from emu.times import Moment, Monotonic

LONGEST_TEXT: Final = 2000
"""Characters of a message that Discord accepts."""
LONGEST_NAME: Final = 80
"""Characters of a sender's name that Discord accepts."""
QUEUE_LIMIT: Final = 100
ATTEMPTS: Final = 6
FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 60.0
"""Seconds between two attempts: the pause doubles from the first to the longest."""
_AT_ONCE: Final = Monotonic(0.0)
TOO_MANY_REQUESTS: Final = 429
"""HTTP status that asks the sender to come back later."""


class WebhookEvent(StrEnum):
    """The kinds of events that a webhook can report; the operator chooses among them."""

    UP = "up"
    DOWN = "down"
    CRASH = "crash"
    ENTER = "enter"
    LEAVE = "leave"
    BAN = "ban"
    BROADCAST = "broadcast"


class WebhookFormat(StrEnum):
    """The bodies of a request."""

    DISCORD = "discord"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class WebhookNotice:
    """One event: its kind, its text for people, its time, and further values by name."""

    event: WebhookEvent
    text: str
    moment: Moment
    values: tuple[tuple[str, str], ...] = ()


def request_body(notices: list[WebhookNotice], form: WebhookFormat, server: str) -> bytes:
    """Return the body of one request. `server`: the name that the sender has."""
    # JSON requests carry one notice each; `_take` sees to that.
    if form is WebhookFormat.JSON:
        (notice,) = notices
        when = datetime.fromtimestamp(notice.moment, UTC).isoformat(timespec="seconds")
        value: dict[str, object] = {
            "event": notice.event.value,
            "time": when.replace("+00:00", "Z"),
            "server": server,
            "text": notice.text,
            **dict(notice.values),
        }
        return json.dumps(value).encode()
    value = {
        "username": server[:LONGEST_NAME],
        "content": "\n".join(_plain(notice.text) for notice in notices)[:LONGEST_TEXT],
        # Names and reasons are typed by players: nobody is notified through an @name in them.
        "allowed_mentions": {"parse": []},
    }
    return json.dumps(value).encode()


def _plain(text: str) -> str:
    """Return a text in which Discord finds no markup."""
    return "".join(f"\\{sign}" if sign in "\\*_~`|>#[]()" else sign for sign in text)


@dataclass(slots=True)
class WebhookQueue:
    """The notices that wait, and when the next request may be sent.

    One request is under way at a time. A failed one is repeated with growing pauses; after
    `ATTEMPTS` its notices are dropped. A full queue drops its oldest notice.
    """

    form: WebhookFormat
    server: str
    counts: Counter[str] = field(default_factory=Counter)
    """Notices by result: sent, dropped, refused."""
    _waiting: deque[WebhookNotice] = field(default_factory=deque)
    _sent: list[WebhookNotice] = field(default_factory=list)
    _failures: int = 0
    _is_closing: bool = False
    _not_before: Monotonic = _AT_ONCE

    def __len__(self) -> int:
        return len(self._waiting) + len(self._sent)

    def add_notice(self, notice: WebhookNotice) -> None:
        """Queue a notice."""
        # The oldest goes: operators want to know the present state.
        if len(self) >= QUEUE_LIMIT and self._waiting:
            self._waiting.popleft()
            self.counts["dropped"] += 1
        self._waiting.append(notice)

    def get_timer(self) -> Monotonic | None:
        """Return when `next_request` has something, None while it waits for nothing."""
        return self._not_before if self._waiting and not self._sent else None

    def next_request(self, now: Monotonic) -> bytes | None:
        """Return the body of the request to send now, or None. Report its end with `answered`."""
        # One request at a time keeps the notices in order.
        if self._sent or not self._waiting or now < self._not_before:
            return None
        self._take()
        return request_body(self._sent, self.form, self.server)

    def _take(self) -> None:
        """Move the notices of the next request; Discord's messages carry as many as fit."""
        length = 0
        while self._waiting:
            length += len(_plain(self._waiting[0].text)) + 1
            # At least one notice is always taken, even if it alone is too long: it is then cut.
            if self._sent and (self.form is WebhookFormat.JSON or length > LONGEST_TEXT):
                return
            self._sent.append(self._waiting.popleft())

    def answered(self, status: int, now: Monotonic, retry_after: float = 0.0) -> bool:
        """Take the HTTP status of the request that is under way; 0 when there was no answer.

        `retry_after`: seconds that the receiver asks to wait. Returns whether the notices are
        done with: delivered, refused for good, or given up.
        """
        if 200 <= status < 300:
            return self._finish("sent")
        # Other errors are the receiver's decision, for instance a deleted webhook: repeating would
        # change nothing.
        again = status in (0, TOO_MANY_REQUESTS) or status >= 500
        if not again:
            return self._finish("refused")
        self._failures += 1
        # The server stops, so there is no later attempt.
        if self._is_closing:
            return self._finish("dropped")
        if self._failures >= ATTEMPTS:
            # The receiver is down. The next notices wait, so that they do not use up their attempts
            # at once.
            self._not_before = Monotonic(now + LONGEST_PAUSE)
            return self._finish("dropped")
        # The receiver may ask for a longer pause than ours, within the limit.
        pause = max(FIRST_PAUSE * 2 ** (self._failures - 1), retry_after)
        self._not_before = Monotonic(now + min(pause, LONGEST_PAUSE))
        # Again the first ones, in their old order.
        self._waiting.extendleft(reversed(self._sent))
        self._sent.clear()
        return False

    def close(self) -> None:
        """Send what waits at once, and repeat nothing: the server stops."""
        self._is_closing = True
        self._not_before = _AT_ONCE

    def _finish(self, result: str) -> bool:
        self.counts[result] += len(self._sent)
        self._sent.clear()
        # The next notices have all attempts again.
        self._failures = 0
        return True
