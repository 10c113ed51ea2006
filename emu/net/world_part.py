"""The built-in world as it runs: its UDP port, and its registration with login servers."""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from twisted.logger import Logger
from twisted.python.failure import Failure

from emu.config import Address, Config
from emu.errors import StoreError
from emu.link.password import hash_link_password
from emu.looks.models import Models
from emu.model import World
from emu.net import parameters
from emu.net.hosts import listen_address
from emu.net.link_client import LoginLink, LoginServerAddress, WorldLinkConfig
from emu.net.link_tasks import Tasks
from emu.net.login_clients import run
from emu.net.login_part import drained
from emu.net.logs import logger
from emu.net.reconcile import reconcile
from emu.net.refusals import RefusalLog
from emu.net.scheduler import Scheduler
from emu.net.storage import Storage
from emu.net.udp import SessionPort, UdpShell, listen
from emu.opcodes import OpcodeTables
from emu.session import Endpoint, Event, Message, SessionClosed
from emu.store import Store
from emu.structs import shipped_catalog
from emu.times import Moment, Monotonic
from emu.world.admission import Admission, AdmissionRules
from emu.world.creation import CharacterCreation, CreationRules
from emu.world.entry import Door, DoorEvent, Entered, NotHandled, TurnedAway
from emu.world.handoff import HandoffKeys
from emu.world.names import NameRules
from emu.world.presence import WorldPresence
from emu.world.registry import RegistryConfig, WorldRegistry
from emu.world.zones import read_zones

BUILT_IN_ACCOUNT = "built-in"
"""Link account of the world in the login server's own process."""

_log = logger("world")


@dataclass(frozen=True, slots=True)
class LinkAccount:
    """How the world proves itself to a login server."""

    account: str
    password: str


def built_in_account(store: Store, name: str, moment: Moment) -> LinkAccount:
    """Give the built-in world its row and a fresh password; it never leaves this process.

    A world that was renamed in the configuration keeps its row, and so its characters. The login
    server's list of them is brought in line with the world, in case the process was killed between
    the two.
    """
    password = secrets.token_hex(16)
    hashed = hash_link_password(password)
    world = store.find_world_by_account(BUILT_IN_ACCOUNT)
    if world is None:
        world = store.add_world(World(0, name, BUILT_IN_ACCOUNT, hashed), moment)
    else:
        store.set_world_password(world.id, hashed)
        if world.name != name:
            store.rename_world(world.id, name)
    changes = reconcile(store, world.id, read_zones())
    if changes:
        _log.warn("the character list was brought in line with the world: {n} changes", n=changes)
    return LinkAccount(BUILT_IN_ACCOUNT, password)


class WorldPart:
    """World service and its port. `listen`, then `register`, then `stop`."""

    def __init__(
        self,
        config: Config,
        storage: Storage,
        opcodes: Callable[[], OpcodeTables],
        reactor: Any,
        scheduler: Scheduler,
        *,
        login_address: tuple[str, int] | None,
    ) -> None:
        self._config = config
        self._reactor = reactor
        self._scheduler = scheduler
        self._storage = storage
        self._login_address = login_address
        self.account = LinkAccount(config.world.account, config.world.password)
        """How it proves itself; set before `register` where the configuration does not say."""
        self._tasks = Tasks(_log)
        presence = WorldPresence()
        self._admission = Admission(
            AdmissionRules(max_players=config.world.max_players),
            presence,
            HandoffKeys(lambda: secrets.randbits(32)),
            locked=config.world.locked,
        )
        self._port: Any = None
        self.link: LoginLink | None = None
        self._refusals = RefusalLog(_log, scheduler)
        self.door = Door(
            opcodes=opcodes,
            structs=shipped_catalog(),
            admission=self._admission,
            presence=presence,
            characters_of=storage.world_characters.of_account,
            played=self._played,
            report=_report(_log, self._refusals),
            changed=self._status_changed,
            clock=scheduler,
        )
        endpoint = Endpoint(
            parameters.endpoint_config(config, config.world.crc_seed), random_bytes=os.urandom
        )
        self.shell = UdpShell(endpoint, scheduler, self._new_visitor, _log)

    def listen(self) -> None:
        """Open the port and say where. Raises `CannotListenError`."""
        address = listen_address("world.listen", self._config.world.listen)
        self._port = listen(self._reactor, address.host, address.port, self.shell)
        self._refusals.start()
        host = self._port.getHost()
        _log.info(
            "{name}, clients on UDP {at}",
            name=self._config.world.name, at=Address(host.host, host.port),
        )  # fmt: skip
        told = _reachable(host.host)
        if told != host.host and not self._config.world.advertise:
            _log.warn(
                "players are told {told}, which only this machine can reach: set world.advertise"
                " to the address they can",
                told=told,
            )

    def register(self) -> None:
        """Begin to register with the login servers, or with the one in this process."""
        servers = parameters.login_servers(self._config)
        if not servers and self._login_address is not None:
            host, port = self._login_address
            servers = (LoginServerAddress(_reachable(host), port),)
        self.link = LoginLink(
            WorldLinkConfig(servers=servers),
            self._registry(),
            self._tasks,
            self._reactor,
            self._scheduler,
            random=random.SystemRandom().random,
        )
        self.link.start()

    async def stop(self) -> None:
        """Say goodbye to players and login servers, and wait until all is stored."""
        self.shell.close(self._scheduler.now())
        if self.link is not None:
            await self.link.stop()
        await self._tasks.finished()
        await drained(self.shell, self._scheduler)
        if self._port is not None:
            await self._port.stopListening()
        self._refusals.stop()

    def _registry(self) -> WorldRegistry:
        world = self._config.world
        bound = self._port.getHost()
        zones = read_zones()
        creation = CharacterCreation(
            CreationRules(creations_per_hour=world.creations_per_hour),
            NameRules(blocked=world.name_filter),
            self._storage.world_characters,
            shipped_catalog(),
            zones.start_zone_of,
        )
        config = RegistryConfig(
            name=world.name,
            account=self.account.account,
            password=self.account.password,
            address=world.advertise or _reachable(bound.host),
            port=bound.port,
            internal_address=world.internal_address,
            max_level=world.max_level,
        )
        return WorldRegistry(
            config,
            characters=self._storage.world_characters,
            creation=creation,
            admission=self._admission,
            zones=zones.described,
            models=Models(self._storage.store),
            clock=self._scheduler,
        )

    async def _played(self, char_id: int, moment: Moment) -> None:
        """Have it stored when a character was played; the player who comes in waits for nothing."""
        self._tasks.spawn(self._remember(char_id, moment))

    async def _remember(self, char_id: int, moment: Moment) -> None:
        try:
            await self._storage.world_characters.played(char_id, moment)
        except StoreError as error:
            _log.warn("when a character was played is not stored: {reason}", reason=str(error))

    def _status_changed(self) -> None:
        if self.link is not None:
            self.link.status_changed()

    def _new_visitor(self, port: SessionPort, now: Monotonic) -> VisitorHandler:
        return VisitorHandler(port, self.door, now)


class VisitorHandler:
    """One session of the world port; also the `EntryLink` of its visitor."""

    __slots__ = ("_port", "_visitor")

    def __init__(self, port: SessionPort, door: Door, now: Monotonic) -> None:
        self._port = port
        self._visitor = door.connect(self, port.address[0], now)

    def handle_event(self, event: Event, now: Monotonic) -> None:
        """Take one event of the session."""
        if isinstance(event, Message):
            work: Coroutine[Any, Any, None] = self._visitor.message(
                event.opcode, event.payload, now
            )
            run(work, self._failed)
        elif isinstance(event, SessionClosed):
            self._visitor.closed(event.reason)
            del self._visitor  # it holds us, too: a flood would outrun the collector

    def get_timer(self) -> Monotonic | None:
        """Return when the visitor wants its timer handled."""
        return self._visitor.get_timer()

    def handle_timer(self, now: Monotonic) -> None:
        """Let the visitor do what is due."""
        self._visitor.handle_timer(now)

    def send(self, opcode: int, payload: bytes) -> None:
        """Send one application message."""
        self._port.session.send(opcode, payload)
        self._port.touch()

    def close(self) -> None:
        """Close the session after what was sent has left."""
        self._port.session.close()
        self._port.touch()

    def _failed(self, failure: Failure) -> None:
        _log.failure("serving a player failed; its session is closed", failure)
        self.close()


def _report(log: Logger, refusals: RefusalLog) -> Callable[[DoorEvent], None]:
    def write(event: DoorEvent) -> None:
        if isinstance(event, Entered):
            log.info(
                "{name} came in from {address}, client {version}",
                name=event.name, address=event.address, version=event.version,
                account_id=event.account_id,
            )  # fmt: skip
        elif isinstance(event, TurnedAway):
            if refusals.is_news("visitors turned away", "", event.address, event.reason):
                log.info(
                    "{address} was turned away: {reason}",
                    address=event.address, reason=event.reason,
                )  # fmt: skip
        elif isinstance(event, NotHandled):
            log.info(
                "unknown message {opcode} {message} of {name} from {address}, client {version}: "
                "{length} bytes: {begin}",
                name=event.name, message=event.message or "(no name)", address=event.address,
                version=event.version, opcode=event.opcode, length=event.length, begin=event.begin,
            )  # fmt: skip
        else:
            log.info(
                "{name} from {address} left: {reason}",
                name=event.name, address=event.address, reason=event.reason,
            )  # fmt: skip

    return write


def _reachable(host: str) -> str:
    """Return an address at which a port bound to `host` can be reached from this machine."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
