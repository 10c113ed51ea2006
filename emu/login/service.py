"""The login service towards players' clients: who is connected, and what worlds tell them.

It is driven by a shell that owns sockets and sessions, and by the worlds' directory:

* `connect` gives a `Client` for a session that stands; the shell passes its messages to
  `Client.message` (awaited; one at a time or not, order is kept), calls `Client.handle_timer` when
  `Client.get_timer` says so, and `Client.closed` when the session is over. `ClientLink` is what the
  shell provides for each session. After each call, and at `ClientLink.wake`, the shell asks for the
  timer again and sends what the session has to send.
* the directory calls the `WorldObserver` methods; `LoginService` registers itself with it.

Stores and the authenticator are awaited and never block. Work that an answer of a world starts by
itself is handed to `start`, which runs a coroutine to its end; `log` is told every event of
`emu.login.events`. `clock` tells what time it has become after an await, and the moments to store.

This package knows no socket, thread, database or reactor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from emu.dialects import MOST_DIALECTS, Dialect, Dialects, RuleTable, shipped_rules
from emu.limits.addresses import address_key
from emu.limits.throttle import Throttle, hourly
from emu.limits.unknown_messages import UnknownMessages
from emu.login import handle_create, handle_lists, handle_play, replies
from emu.login.client import Client, ClientLink
from emu.login.creation import PendingCreates
from emu.login.dispatch import dispatch
from emu.login.events import AnswerDropped, LoginEvent, SessionReplaced
from emu.login.handle_lists import GONE, WorldState
from emu.login.ports import Authenticator, CharacterStore, LogStore, Worlds
from emu.login.settings import LoginServiceConfig
from emu.login.zone_texts import ZoneSource, ZoneTexts
from emu.looks.models import Models
from emu.model import CreateAnswer, PlayAnswer, WorldEntry
from emu.opcodes import OpcodeTables
from emu.structs import StructCatalog
from emu.times import Clock, Monotonic

NEEDED_STRUCTS = (
    "LS_LoginReplyMsg",
    "LS_WorldList",
    "CharSelectProfile",
    "CreateCharacter",
    "LS_CreateCharacterReply",
    "LS_DeleteCharacterRequest",
    "LS_DeleteCharacterResponse",
    "LS_PlayRequest",
    "LS_PlayResponse",
)
"""Structs without which a client version cannot be served."""


class LoginService:
    """Every connected client, and the way from worlds to them.

    `opcodes` returns the tables of the moment, so that an edit counts for the next login.
    `models` knows the numbers of the models that create requests name.
    """

    def __init__(
        self,
        *,
        config: LoginServiceConfig,
        opcodes: Callable[[], OpcodeTables],
        structs: StructCatalog,
        authenticator: Authenticator,
        characters: CharacterStore,
        logs: LogStore,
        worlds: Worlds,
        zones: ZoneSource,
        start: Callable[[Coroutine[Any, Any, None]], None],
        clock: Clock,
        log: Callable[[LoginEvent], None],
        rules: RuleTable | None = None,
        models: Models | None = None,
    ) -> None:
        self.config = config
        self.creations = Throttle(hourly(config.creations_per_hour))
        """What accounts may still ask worlds to make."""
        self.dialects = Dialects(opcodes, structs, rules or shipped_rules(), NEEDED_STRUCTS)
        self.authenticator = authenticator
        self.characters = characters
        self.logs = logs
        self.worlds = worlds
        self.zones = ZoneTexts(zones, config.zone_memory)
        self.start = start
        self.clock = clock
        self.log = log
        self.models = models or Models()
        self.counters: Counter[str] = Counter()
        self.unknown_messages = UnknownMessages()
        self.creates = PendingCreates()
        self._clients: dict[int, Client] = {}
        """Clients that are logged in, by account id."""
        self._addresses: Counter[str] = Counter()
        """How many of them there are from each address (IPv6: from each /64 network)."""
        self._lists: dict[int, bytes] = {}
        """World lists by client version, all made of the entries in `_lists_of`."""
        self._lists_of: tuple[WorldEntry, ...] = ()
        self._states = {world.id: (True, world.locked) for world in worlds.listed() if world.up}
        worlds.observe(self)

    # what the shell calls

    def connect(self, link: ClientLink, address: str, now: Monotonic) -> Client:
        """Take a new session; `address` is the client's IP address without the port."""
        self.counters["clients connected"] += 1
        return Client(self, link, address, now)

    @property
    def logged_in(self) -> int:
        """Number of clients that are logged in."""
        return len(self._clients)

    # what worlds' directory calls (WorldObserver)

    def world_changed(self, entry: WorldEntry, now: Monotonic) -> None:
        """Tell clients of a world that appeared, or whose lock changed."""
        self._set_world_state(entry.id, (entry.up, entry.up and entry.locked), now)

    def world_gone(self, world_id: int, now: Monotonic) -> None:
        """Tell clients that a world is down, first of all those that wait for its answer."""
        for pending in self.creates.world_gone(world_id):
            handle_create.world_gone(pending)
        for client in list(self._clients.values()):
            handle_play.world_gone(client, world_id)
        self._set_world_state(world_id, GONE, now)

    def play_answered(self, answer: PlayAnswer, now: Monotonic) -> None:  # noqa: ARG002
        """Pass a world's answer to a play request on to the client that waits for it."""
        client = self._clients.get(answer.account_id)
        if client is None or not handle_play.play_answered(client, answer):
            self._drop_answer(answer.world_id, "nobody waits for this play answer")

    def create_answered(self, answer: CreateAnswer, now: Monotonic) -> None:  # noqa: ARG002
        """Save what a world has made and tell the client, if it is still there."""
        pending = self.creates.answered(answer)
        if pending is None:
            self._drop_answer(answer.world_id, "nobody waits for this create answer")
        else:
            self.start(handle_create.answered(self, pending, answer))

    def character_changed(self, account_id: int, now: Monotonic) -> None:
        """Take note of a changed character: nothing to do, every list is read from the store."""

    # what clients and handlers call

    async def dispatch(self, client: Client, opcode: int, body: bytes, now: Monotonic) -> None:
        """Hand a client's message to its handler."""
        if client.is_logged_in:
            self._stays_awake(client, now)
        await dispatch(client, opcode, body, now)

    def deadline_passed(self, client: Client, name: str, now: Monotonic) -> None:  # noqa: ARG002
        """Do what belongs to one of a client's deadlines."""
        _DEADLINES[name](client)

    def is_full(self, address: str, account_id: int) -> bool:
        """Say whether an address has as many clients as it may, not counting this account's."""
        source = address_key(address)
        here = self._addresses.get(source, 0)
        earlier = self._clients.get(account_id)
        if earlier is not None and address_key(earlier.address) == source:
            here -= 1
        return here >= self.config.logins_per_address

    def client_logged_in(self, client: Client) -> None:
        """Register a client; an earlier session of the same account ends."""
        earlier = self._clients.get(client.account_id)
        if earlier is not None:
            reason = f"logged in again from {client.address}"
            self.log(SessionReplaced(earlier.address, earlier.account_name, reason))
            earlier.close(reason)
        self._clients[client.account_id] = client
        self._addresses[address_key(client.address)] += 1
        self._stays_awake(client, self.clock.now())

    def client_ended(self, client: Client) -> None:
        """Forget a client whose session is over; its account may log in again at once."""
        if client.account is None or self._clients.get(client.account.id) is not client:
            return
        del self._clients[client.account.id]
        source = address_key(client.address)
        self._addresses[source] -= 1
        if not self._addresses[source]:
            del self._addresses[source]

    def world_list(self, dialect: Dialect, worlds: Sequence[WorldEntry]) -> bytes:
        """Return the world list of a version, made once for each state of the worlds."""
        entries = tuple(worlds)
        if entries != self._lists_of or len(self._lists) >= MOST_DIALECTS:
            self._lists.clear()
            self._lists_of = entries
        made = self._lists.get(dialect.version)
        if made is None:
            made = self._lists[dialect.version] = replies.world_list(dialect, entries)
        return made

    def world_state(self, world_id: int) -> WorldState:
        """Return what clients are to know of a world now."""
        return self._states.get(world_id, GONE)

    def _stays_awake(self, client: Client, now: Monotonic) -> None:
        if self.config.list_lifetime:
            client.set_deadline("idle", now + self.config.list_lifetime)

    def _set_world_state(self, world_id: int, state: WorldState, now: Monotonic) -> None:
        if self.world_state(world_id) == state:
            return
        if state == GONE:
            del self._states[world_id]
        else:
            self._states[world_id] = state
        for client in self._clients.values():
            handle_lists.note_world_state(client, world_id, state, now)

    def _drop_answer(self, world_id: int, reason: str) -> None:
        self.counters["answer dropped"] += 1
        self.log(AnswerDropped(str(world_id), reason))


_DEADLINES: dict[str, Callable[[Client], None]] = {
    "login": lambda client: client.close("did not log in in time"),
    "disconnect": lambda client: client.close("login refused"),
    "idle": lambda client: client.close("idle at the character list"),
    "play": handle_play.play_timed_out,
    "create": handle_create.timed_out,
    "status": handle_lists.push_world_states,
}
