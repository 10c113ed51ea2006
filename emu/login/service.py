"""The context of the message handlers: stores, dialects, worlds, limits, and logged-in clients.

Stores and the authenticator are awaited and never block. `start` runs a coroutine whose result is
not awaited. `log` receives the events of `emu.login.events`. `clock` gives the time after an await,
and the moments to store. `emu.login.server` passes this context to the handlers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from typing import Any

from emu.appearance import Models
from emu.dialects import MOST_DIALECTS, Dialect, Dialects, shipped_rules
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
from emu.login.shared import SharedLogins
from emu.opcodes import OpcodeTables
from emu.processes.ports import BusMember
from emu.structs import StructCatalog
from emu.times import Clock, Monotonic
from emu.worlds import WorldEntry

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
    """Return False: no account and no address is barred."""
    return False


class LoginService:
    """Everything that handlers need besides the client.

    `opcodes` returns the current tables, so that an edit applies to the next login. `models` has
    the numbers of the models that create requests name.
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
        models: Models | None = None,
        is_barred: Callable[[int, str], Awaitable[bool]] = nobody_is_barred,
        is_trial: Callable[[str], bool] = lambda _name: False,
        member: BusMember | None = None,
    ) -> None:
        """Create the service; `member` is this process among several login servers."""
        self.config = config
        self.creations = Throttle(hourly(config.creations_per_hour))
        """The budget of create requests of each account."""
        self.entries = EntryLimits(
            minutely(config.logins_per_minute, config.logins_at_once),
            minutely(config.address_logins_per_minute, config.address_logins_at_once),
        )
        """The rate limits of logins, by account and address."""
        self.dialects = Dialects(opcodes, structs, shipped_rules(), NEEDED_STRUCTS)
        self.authenticator = authenticator
        self.characters = characters
        self.logs = logs
        self.worlds = worlds
        self.zones = ZoneTexts(zones, config.zone_memory, clock)
        self.start = start
        self.clock = clock
        self.journal = LoginLog(log)
        self.log = log
        self.counters: Counter[str] = Counter()
        """Outcomes of clients' messages; `journal` counts those without an effect."""
        self.models = models or Models()
        self.is_trial = is_trial
        """Returns whether a login of this account name is a trial; see `TrialLogins`."""
        self.is_barred = is_barred
        """Returns whether a ban or a disabled account has barred an account or address since its
        login.
        """
        self.creates = PendingCreates()
        self.logged_in = LoggedInClients(config.logins_per_address)
        self.shared_logins: SharedLogins | None = None
        """The sessions at all login servers; None where this is the only one."""
        if member is not None:
            self.shared_logins = SharedLogins(
                member, clock.moment, replaced=self._replaced_elsewhere, spawn=start
            )
        # From the worlds that are up already: a login service may start after its worlds have
        # registered.
        self.world_states = WorldStates(worlds.listed())
        self._lists: dict[int, bytes] = {}
        """World lists by client version, all made from the entries in `_lists_of`."""
        self._lists_of: tuple[WorldEntry, ...] = ()

    def client_logged_in(self, client: Client) -> None:
        """Add a client; an earlier session of the same account ends."""
        earlier = self.logged_in.find(client.owner.id)
        # The new session wins: the earlier one may be a crashed client that would otherwise lock
        # its player out until its session times out.
        if earlier is not None:
            reason = f"logged in again from {client.address}"
            self.log(SessionReplaced(earlier.address, earlier.account_name, reason))
            earlier.close(reason)
        self.logged_in.add_client(client)
        if self.shared_logins is not None:
            self.shared_logins.began(client.owner.id)
        self.restart_idle_timer(client, self.clock.now())

    def client_ended(self, client: Client) -> None:
        """Remove a client whose session is over."""
        self.creates.client_gone(client)
        if self.logged_in.remove(client) and self.shared_logins is not None:
            self.shared_logins.ended(client.owner.id)

    def _replaced_elsewhere(self, account_id: int, process: str) -> None:
        """End the session of an account that has logged in at another login server since."""
        client = self.logged_in.find(account_id)
        if client is not None:
            reason = f"logged in again at the login server {process}"
            self.log(SessionReplaced(client.address, client.account_name, reason))
            client.close(reason)

    def restart_idle_timer(self, client: Client, now: Monotonic) -> None:
        """Restart the time that a client may be idle."""
        if self.config.list_lifetime:
            client.set_deadline(ClientDeadline.IDLE, Monotonic(now + self.config.list_lifetime))

    def world_list(self, dialect: Dialect, worlds: Sequence[WorldEntry]) -> bytes:
        """Return the world list of a version, encoded once for each state of the worlds."""
        entries = tuple(worlds)
        # The version is a number that clients choose, so the number of lists must be bounded.
        if entries != self._lists_of or len(self._lists) >= MOST_DIALECTS:
            self._lists.clear()
            self._lists_of = entries
        made = self._lists.get(dialect.version)
        if made is None:
            made = self._lists[dialect.version] = replies.world_list(dialect, entries)
        return made


class LoggedInClients:
    """Clients by account id, at most `per_address` of them from one address."""

    def __init__(self, per_address: int) -> None:
        self._per_address = per_address
        self._clients: dict[int, Client] = {}
        self._addresses: Counter[str] = Counter()
        """How many of them are from each address (IPv6: from each /64 network)."""

    def __len__(self) -> int:
        return len(self._clients)

    def __iter__(self) -> Iterator[Client]:
        """Iterate over the clients of this moment; some may end meanwhile."""
        return iter(list(self._clients.values()))

    def find(self, account_id: int) -> Client | None:
        """Return the client of an account."""
        return self._clients.get(account_id)

    def is_full(self, address: str, account_id: int) -> bool:
        """Return whether an address has as many clients as it may, not counting this account's."""
        source = address_key(address)
        here = self._addresses.get(source, 0)
        earlier = self._clients.get(account_id)
        if earlier is not None and address_key(earlier.address) == source:
            # Its earlier session is about to end, so it must not count against the new one.
            here -= 1
        return here >= self._per_address

    def add_client(self, client: Client) -> None:
        """Add a client; the account must not have another one."""
        self._clients[client.owner.id] = client
        self._addresses[address_key(client.address)] += 1

    def remove(self, client: Client) -> bool:
        """Remove a client, whose account may log in again at once; return whether it was here."""
        # A client that was replaced ends after the new one is in the table; the new one must stay.
        if client.account is None or self._clients.get(client.account.id) is not client:
            return False
        del self._clients[client.account.id]
        self._leave(client.address)
        return True

    def move(self, client: Client, address: str) -> None:
        """Change the address of a client, logged in or not."""
        before, client.address = client.address, address
        if client.account is not None and self._clients.get(client.account.id) is client:
            self._leave(before)
            self._addresses[address_key(address)] += 1

    def _leave(self, address: str) -> None:
        source = address_key(address)
        self._addresses[source] -= 1
        if not self._addresses[source]:
            del self._addresses[source]
