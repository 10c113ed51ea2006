"""One client of the login service: its state, its deadlines, and the order of its messages.

The shell owns the session below a `Client`. Messages are handled one at a time and in order: while
a handler awaits a store, later messages wait in the client's mailbox. `emu.login.server` has the
handlers, and the states in which each message may come.

The time is the `now` of each call.
"""

from __future__ import annotations

import enum
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from emu.dialects import Dialect
from emu.errors import EmuError, PeerError, StoreError, UnknownOpcode
from emu.limits.repeats import first_bytes
from emu.login.events import UNKNOWN, ClientEnded, LoginLog, UnknownMessage
from emu.mailbox import Mailbox, Task
from emu.model import Account, Character, PlayResponse
from emu.times import Monotonic


class ClientLink(Protocol):
    """The session below a client, provided by the shell."""

    def send(self, opcode: int, payload: bytes) -> None:
        """Send one application message."""

    def close(self, reason: str) -> None:
        """End the session after everything that was sent has left."""

    def trust(self) -> None:
        """Lift the limits on an unauthenticated peer: the client is logged in."""

    def charge_to(self, account_id: int) -> None:
        """Charge the session's cost to an account, together with its other sessions."""

    def wake(self) -> None:
        """Request that the shell reads the client's timer again, because it changed."""

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine; an exception from it ends the session."""


class ClientState(enum.IntEnum):
    """The states of a client."""

    # IntEnum: every message tests these in sets, and plain Enum members are hashed in Python.
    CONNECTED = 0
    """Its session is established; it has not sent a login request."""
    AUTHENTICATING = 1
    REFUSED = 2
    """It was sent a denial and is disconnected soon."""
    LOGGED_IN = 3
    PLAYING = 4
    """It requested to play and its world has not answered."""
    CLOSED = 5


class ClientDeadline(enum.IntEnum):
    """The deadlines that a client may have; `emu.login.server` says what happens at each."""

    # IntEnum, as above: deadlines are keys of a dict that every call of the shell reads.
    LOGIN = 0
    DISCONNECT = 1
    """The client was refused; its denial has had time to leave."""
    IDLE = 2
    PLAY = 3
    CREATE = 4
    STATUS = 5
    """World status changes that the client has not been sent yet."""


END_STATES = frozenset({ClientState.REFUSED, ClientState.CLOSED})
LOGGED_IN_STATES = frozenset({ClientState.LOGGED_IN, ClientState.PLAYING})


@dataclass(slots=True, eq=False)
class PendingPlay:
    """A play request that the client has no answer to."""

    world_id: int
    char_id: int
    name: str
    is_allowed: bool = True
    """Whether the client may be let in; not as long as the store is asked whether it is banned."""
    granted: PlayResponse | None = None
    """The answer of a world that lets it in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientContext:
    """What all clients of one server share. Times are seconds."""

    dispatch: Callable[[Client, int, bytes], Awaitable[None]]
    """Passes a message (opcode, payload) to its handler."""
    deadline_passed: Callable[[Client, ClientDeadline], None]
    """Handles a deadline of a client that has passed."""
    ended: Callable[[Client], None]
    """Called once when a client's session is over."""
    journal: LoginLog
    login_timeout: float
    """Time for a login after the session is established."""
    waiting_before_login: int
    waiting_messages: int
    """Messages that may wait, before and after the login, while an earlier one is handled."""


class Client:
    """One connected client.

    Three callers drive it: the shell (`message`, `closed`, `get_timer`, `handle_timer`), the
    handlers of its own messages, and the answers of worlds (`queue_task`).
    """

    __slots__ = (
        "_context", "_deadlines", "_link", "account", "address", "deleted", "dialect", "drops",
        "is_trial", "logs_stored", "mailbox", "pending_play", "shown_worlds", "state", "status_due",
    )  # fmt: skip

    def __init__(
        self,
        context: ClientContext,
        dialect: Dialect,
        link: ClientLink,
        address: str,
        now: Monotonic,
    ) -> None:
        """Start a client; `dialect` is the one in use before the login reveals the version."""
        self._context = context
        self._link = link
        self.address = address
        self.state = ClientState.CONNECTED
        self.dialect = dialect
        self.account: Account | None = None
        self.drops: Counter[str] = Counter()
        self.deleted: list[Character] = []
        """Characters deleted in this session, kept for the lists of old clients."""
        self.shown_worlds: dict[int, tuple[bool, bool]] | None = None
        """(up, locked) of each world as this client was sent it; None before it requests the list.
        """
        # A set, so that a world that changes several times within the delay is sent once.
        self.status_due: set[int] = set()
        self.pending_play: PendingPlay | None = None
        self.is_trial = False
        """Its login is a trial (`emu.login.accounts.TrialLogins`): nothing of it is stored."""
        self.logs_stored = 0
        self.mailbox = Mailbox(link.start, context.waiting_before_login)
        """Tasks that wait for the one in progress."""
        # A peer that never logs in must not hold a session, so this deadline exists from the
        # beginning.
        self._deadlines = {ClientDeadline.LOGIN: Monotonic(now + context.login_timeout)}

    # Calls of the shell.

    def message(self, opcode: int, payload: bytes, _now: Monotonic) -> None:
        """Handle one application message after those that came before."""
        self.queue_task(partial(self._context.dispatch, self, opcode, payload), len(payload))

    def closed(self, reason: str = "session closed") -> None:
        """Handle the end of the session, from either side; repeated calls do nothing."""
        if self.state is not ClientState.CLOSED:
            self._end(reason)

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` is due, or None."""
        return min(self._deadlines.values(), default=None)

    def handle_timer(self, now: Monotonic) -> None:
        """Handle the deadlines that have passed."""
        # A copy of the names: a handler may set or clear deadlines while this loop runs.
        for name in [name for name, due in self._deadlines.items() if due <= now]:
            # Handling one deadline may have cleared another one of the list.
            if self._deadlines.pop(name, None) is not None:
                self._context.deadline_passed(self, name)

    # Calls of handlers.

    @property
    def version(self) -> int:
        """The client's data version, 0 before login."""
        return self.dialect.version

    @property
    def account_id(self) -> int:
        """The account's id; only valid when logged in."""
        return self.owner.id

    @property
    def owner(self) -> Account:
        """The account; only valid when logged in."""
        if self.account is None:
            raise RuntimeError("this client is not logged in")
        return self.account

    @property
    def account_name(self) -> str:
        """The account's name, empty before login."""
        return self.account.name if self.account else ""

    @property
    def is_logged_in(self) -> bool:
        """Whether a login has succeeded and the session is not over."""
        return self.state in LOGGED_IN_STATES

    def set_state(self, state: ClientState) -> None:
        """Enter a state; a closed client stays closed."""
        # An answer of a store or a world may come after the session is over; it must not revive it.
        if self.state is not ClientState.CLOSED:
            self.state = state
        if state in END_STATES:
            # What waits was sent before the client learned of its end; handling it could still
            # change something.
            self.mailbox.clear()

    def trust(self) -> None:
        """Lift the limits of an unauthenticated peer, here and in the session."""
        # The small limit is for peers that nobody knows; a player's client may send a burst.
        self.mailbox.limit = self._context.waiting_messages
        self._link.trust()
        # Only now: before the login there is no account that could be charged.
        self._link.charge_to(self.account_id)

    def set_deadline(self, name: ClientDeadline, due: Monotonic) -> None:
        """Set or move one deadline; `emu.login.server` handles it."""
        if self.state is ClientState.CLOSED:
            return
        # A shell that calls too early reads the timer again, so only an earlier deadline wakes it.
        if due < min(self._deadlines.values(), default=math.inf):
            self._link.wake()
        self._deadlines[name] = due

    def clear_deadline(self, name: ClientDeadline) -> None:
        """Remove one deadline."""
        self._deadlines.pop(name, None)

    def send(self, name: str, payload: bytes) -> None:
        """Send a message by its name; do nothing if the client is closed."""
        if self.state is ClientState.CLOSED:
            return
        # An opcode table may lack a message. That is a fault of the table, so it is logged, not
        # raised.
        try:
            number = self.dialect.table.number(name)
        except UnknownOpcode as error:
            self.fault(str(error))
            return
        self._link.send(number, payload)

    def drop(self, message: str, reason: str) -> None:
        """Count and log a message that has no effect."""
        self.drops[reason] += 1
        self._context.journal.dropped(self.address, self.account_name, message, reason)

    def unknown(self, opcode: int, payload: bytes) -> None:
        """Count a message without a handler; log the first of its kind."""
        # Clients send the same unknown messages again and again; one line for each kind is enough.
        self.drops[UNKNOWN] += 1
        name = self.dialect.table.names.get(opcode, "")
        who = (self.address, self.account_name, self.version)
        begin = first_bytes(payload)
        self._context.journal.unknown(UnknownMessage(*who, opcode, name, len(payload), begin))

    def fault(self, reason: str) -> None:
        """Report a fault of this server while it served the client."""
        self._context.journal.fault(self.address, self.account_name, reason)

    def close(self, reason: str) -> None:
        """End the session."""
        if self.state is not ClientState.CLOSED:
            # `_end` first: the link may report the end of its session at once, and must find the
            # client closed.
            self._end(reason)
            self._link.close(reason)

    def queue_task(self, task: Task, size: int = 0) -> None:
        """Run a task after those that wait; close the client if too many wait.

        `size` is how many bytes the task keeps in memory while it waits.
        """
        # Dropping a single message would break the order that clients rely on, so the session ends.
        if self.state not in END_STATES and not self.mailbox.put(task, size):
            self.close("too many messages waiting")

    def _end(self, reason: str) -> None:
        self.state = ClientState.CLOSED
        self._deadlines.clear()
        self.mailbox.clear()
        self.pending_play = None
        # After the state is set, so that nothing that this causes sends the client a message.
        self._context.ended(self)
        self._context.journal.log(ClientEnded(self.address, self.account_name, reason))


async def guarded(client: Client, message: str, handler: Awaitable[None]) -> None:
    """Await a handler.

    Count or log the errors of the peer and of the store instead of raising them.
    """
    try:
        await handler
    except PeerError as error:
        client.drop(message, error.reason)
    except StoreError as error:
        client.fault(str(error))
    except EmuError as error:
        client.fault(f"{message}: {error}")
