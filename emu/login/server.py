"""The login server towards players' clients: who is connected, and what worlds tell them.

It is driven by a shell that owns sockets and sessions, and by the worlds' directory:

* `connect` gives a `Client` for a session that stands; the shell passes its messages to
  `Client.message` (order is kept), calls `Client.handle_timer` when `Client.get_timer` says so, and
  `Client.closed` when the session is over. `ClientLink` is what the shell provides for each
  session. After each call, and at `ClientLink.wake`, the shell asks for the timer again and sends
  what the session has to send.
* the directory calls the `WorldObserver` methods; `LoginServer` registers itself with it.

This package knows no socket, thread, database or reactor.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from emu.dialects import BEFORE_LOGIN
from emu.login.client import Client, ClientContext, ClientLink
from emu.login.directory.states import GONE, WorldState, state_of
from emu.login.events import AnswerDropped
from emu.login.messages import create, lists, play
from emu.login.messages.dispatch import dispatch
from emu.login.service import LoginService
from emu.model import CreateResponse, PlayResponse, WorldEntry
from emu.times import Monotonic


class LoginServer:
    """Every connected client, and the way from worlds to them."""

    def __init__(self, service: LoginService) -> None:
        self.service = service
        self._context = ClientContext(
            dispatch=partial(dispatch, service),
            deadline_passed=self._deadline_passed,
            ended=service.client_ended,
            journal=service.journal,
            login_timeout=service.config.login_timeout,
            waiting_before_login=service.config.waiting_before_login,
            waiting_messages=service.config.waiting_messages,
        )
        service.worlds.observe(self)

    def connect(self, link: ClientLink, address: str, now: Monotonic) -> Client:
        """Take a new session; `address` is the client's IP address without the port."""
        self.service.counters["clients connected"] += 1
        dialect = self.service.dialects.for_version(BEFORE_LOGIN)
        return Client(self._context, dialect, link, address, now)

    # what worlds' directory calls (WorldObserver)

    def world_changed(self, entry: WorldEntry, now: Monotonic) -> None:
        """Tell clients of a world that appeared, or whose lock changed."""
        self._set_world_state(entry.id, state_of(entry), now)

    def world_gone(self, world_id: int, now: Monotonic) -> None:
        """Tell clients that a world is down, first of all those that wait for its answer."""
        for pending in self.service.creates.world_gone(world_id):
            create.world_gone(self.service, pending)
        for client in self.service.logged_in:
            play.world_gone(self.service, client, world_id)
        self._set_world_state(world_id, GONE, now)

    def play_answered(self, answer: PlayResponse, now: Monotonic) -> None:  # noqa: ARG002
        """Pass a world's answer to a play request on to the client that waits for it."""
        client = self.service.logged_in.find(answer.account_id)
        if client is None or not play.play_answered(self.service, client, answer):
            self._drop_answer(answer.world_id, "nobody waits for this play answer")

    def create_answered(self, answer: CreateResponse, now: Monotonic) -> None:  # noqa: ARG002
        """Save what a world has made and tell the client, if it is still there."""
        pending = self.service.creates.answered(answer)
        if pending is None:
            self._drop_answer(answer.world_id, "nobody waits for this create answer")
        else:
            self.service.start(create.answered(self.service, pending, answer))

    def _deadline_passed(self, client: Client, name: str) -> None:
        _DEADLINES[name](self.service, client)

    def _set_world_state(self, world_id: int, state: WorldState, now: Monotonic) -> None:
        if self.service.world_states.change(world_id, state):
            for client in self.service.logged_in:
                lists.note_world_state(self.service, client, world_id, state, now)

    def _drop_answer(self, world_id: int, reason: str) -> None:
        self.service.journal.counters["answer dropped"] += 1
        self.service.log(AnswerDropped(str(world_id), reason))


_DEADLINES: dict[str, Callable[[LoginService, Client], None]] = {
    "login": lambda _, client: client.close("did not log in in time"),
    "disconnect": lambda _, client: client.close("login refused"),
    "idle": lambda _, client: client.close("idle at the character list"),
    "play": play.play_timed_out,
    "create": create.timed_out,
    "status": lists.push_world_states,
}
