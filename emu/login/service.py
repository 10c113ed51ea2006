"""What the handlers of clients' messages share: stores, dialects, worlds, limits, who is logged in.

Stores and the authenticator are awaited and never block. Work that nobody waits for is handed to
`start`, which runs a coroutine to its end; `log` is told every event of `emu.login.events`. `clock`
tells what time it has become after an await, and the moments to store.

What is done with it is in the handlers; `emu.login.server` joins the two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from typing import Any

from emu.appearance import Models
from emu.dialects import MOST_DIALECTS, Dialect, Dialects, RuleTable, shipped_rules
from emu.limits.addresses import address_key
from emu.limits.rates import EntryLimits, Throttle, hourly, minutely
from emu.login.character_creation import PendingCreates
from emu.login.character_list import ZoneSource, ZoneTexts
from emu.login.client import Client, ClientDeadline
from emu.login.directory import WorldStates
from emu.login.events import LoginEvent, LoginLog, SessionReplaced
from emu.login.messages import replies
from emu.login.ports import Authenticator, CharacterStore, ConnectedWorlds, LogStore
from emu.login.settings import LoginServiceConfig
from emu.model import WorldEntry
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


async def nobody_is_barred(_account_id: int, _address: str) -> bool:
    """Keep nobody out that was let in once."""
    return False


class LoginService:
    """Everything that handlers need besides the client itself.

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
        worlds: ConnectedWorlds,
        zones: ZoneSource,
        start: Callable[[Coroutine[Any, Any, None]], None],
        clock: Clock,
        log: Callable[[LoginEvent], None],
        rules: RuleTable | None = None,
        models: Models | None = None,
        is_barred: Callable[[int, str], Awaitable[bool]] = nobody_is_barred,
    ) -> None:
        self.config = config
        self.creations = Throttle(hourly(config.creations_per_hour))
        """What accounts may still ask worlds to make."""
        self.entries = EntryLimits(
            minutely(config.logins_per_minute, config.logins_at_once),
            minutely(config.address_logins_per_minute, config.address_logins_at_once),
        )
        """How often accounts have logged in."""
        self.dialects = Dialects(opcodes, structs, rules or shipped_rules(), NEEDED_STRUCTS)
        self.authenticator = authenticator
        self.characters = characters
        self.logs = logs
        self.worlds = worlds
        self.zones = ZoneTexts(zones, config.zone_memory)
        self.start = start
        self.clock = clock
        self.journal = LoginLog(log)
        self.log = log
        self.counters: Counter[str] = Counter()
        """What came of clients' messages; those without an effect are the journal's."""
        self.models = models or Models()
        self.is_barred = is_barred
        """Says of an account and an address whether a ban or the like keeps it out by now."""
        self.creates = PendingCreates()
        self.logged_in = LoggedInClients(config.logins_per_address)
        self.world_states = WorldStates(worlds.listed())
        self._lists: dict[int, bytes] = {}
        """World lists by client version, all made of the entries in `_lists_of`."""
        self._lists_of: tuple[WorldEntry, ...] = ()

    def client_logged_in(self, client: Client) -> None:
        """Register a client; an earlier session of the same account ends."""
        earlier = self.logged_in.find(client.owner.id)
        if earlier is not None:
            reason = f"logged in again from {client.address}"
            self.log(SessionReplaced(earlier.address, earlier.account_name, reason))
            earlier.close(reason)
        self.logged_in.add(client)
        self.restart_idle_timer(client, self.clock.now())

    def client_ended(self, client: Client) -> None:
        """Forget a client whose session is over."""
        self.creates.client_gone(client)
        self.logged_in.remove(client)

    def restart_idle_timer(self, client: Client, now: Monotonic) -> None:
        """Let a client be idle from now on as long as it may."""
        if self.config.list_lifetime:
            client.set_deadline(ClientDeadline.IDLE, Monotonic(now + self.config.list_lifetime))

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


class LoggedInClients:
    """Clients by account id. At most `per_address` of them may be from one address."""

    def __init__(self, per_address: int) -> None:
        self._per_address = per_address
        self._clients: dict[int, Client] = {}
        self._addresses: Counter[str] = Counter()
        """How many of them there are from each address (IPv6: from each /64 network)."""

    def __len__(self) -> int:
        return len(self._clients)

    def __iter__(self) -> Iterator[Client]:
        """Go through the clients as they are now; some may end meanwhile."""
        return iter(list(self._clients.values()))

    def find(self, account_id: int) -> Client | None:
        """Return an account's client."""
        return self._clients.get(account_id)

    def is_full(self, address: str, account_id: int) -> bool:
        """Say whether an address has as many clients as it may, not counting this account's."""
        source = address_key(address)
        here = self._addresses.get(source, 0)
        earlier = self._clients.get(account_id)
        if earlier is not None and address_key(earlier.address) == source:
            here -= 1
        return here >= self._per_address

    def add(self, client: Client) -> None:
        """Add a client; the account must not have another one."""
        self._clients[client.owner.id] = client
        self._addresses[address_key(client.address)] += 1

    def remove(self, client: Client) -> None:
        """Forget a client, if it is here; its account may log in again at once."""
        if client.account is None or self._clients.get(client.account.id) is not client:
            return
        del self._clients[client.account.id]
        source = address_key(client.address)
        self._addresses[source] -= 1
        if not self._addresses[source]:
            del self._addresses[source]
