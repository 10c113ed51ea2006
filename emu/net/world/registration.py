"""Registers the world of this process with login servers, and reconciles character lists.

A character is created in two steps, by the world and then by the login server, and deleted in two
steps in the other order. A process that is killed between them leaves a character that is on no
list and whose name stays taken. The link has no message to repair that (docs/protocol/link.md). In
one database, the next start completes the second step.
"""

from __future__ import annotations

import random
import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from emu.appearance import SLIDER_FIELDS, Models, model_key, shipped_models
from emu.errors import StoreError
from emu.limits.addresses import reachable
from emu.link.messages import LinkMessage
from emu.link.settings import LoginServerAddress, WorldLinkConfig, hash_link_password
from emu.login.character_creation import MODEL_FIELDS
from emu.model import BUILT_IN_ACCOUNT, Character, WorldCharacter
from emu.net import parameters
from emu.net.cluster.service import ProcessContext, ProcessesEndpoint
from emu.net.link.client import LoginLink
from emu.net.logs import logger
from emu.net.scheduler import DelayedCall, Tasks
from emu.store import Store
from emu.structs import shipped_catalog
from emu.times import Moment
from emu.world.actors.spawn import MODEL_FIELDS as GHOST_MODELS
from emu.world.entry.admission import WorldAdmissionRules
from emu.world.registration.creation import CharacterCreation, NameRules
from emu.world.registration.registry import (
    CharacterLocations,
    RegistryConfig,
    WorldRegistry,
    relay_bug_reports,
)
from emu.world.reports import WorldEvent
from emu.world.rules import CreationRules
from emu.world.zones.definitions import Atlas


def reconcile(store: Store, world_id: int, zones: Atlas) -> int:
    """Finish the steps of a killed process in one transaction; return how many rows changed."""
    with store.transaction():
        # A process killed between the two steps left a character that the list does not have.
        made = [store.world.characters.find(char_id) for char_id in store.roster.unlisted(world_id)]
        for character in made:
            assert character is not None  # noqa: S101  # it was there in the same transaction
            row = listed(character, world_id, zones, _model_numbers(store, character))
            store.login.characters.add(row)
        # The other way round: the list deleted a character, but the world did not.
        gone = store.roster.disowned(world_id)
        for account_id, char_id in gone:
            store.world.characters.delete(account_id, char_id)
    return len(made) + len(gone)


def listed(
    character: WorldCharacter, world_id: int, zones: Atlas, models: Mapping[str, int]
) -> Character:
    """Return the list's row of a world's character; `models` is profile field -> number."""
    zone = zones.get(character.zone_id)
    body_size = character.appearance.get("body_size")
    return Character(
        # The store gives the row its id.
        id=0,
        account_id=character.account_id,
        world_id=world_id,
        char_id=character.id,
        name=character.name,
        race=character.race,
        class_=character.class_,
        gender=character.gender,
        deity=character.deity,
        level=character.level,
        zone_id=character.zone_id,
        zone_name=zone.file if zone else "",
        zone_description=zone.description if zone else "",
        created=character.created,
        last_played=character.last_played,
        client_version=character.client_version,
        appearance={"body_size": body_size, **models} if isinstance(body_size, int) else models,
        colors={SLIDER_FIELDS.get(name, name): color for name, color in character.colors.items()},
    )


def _model_numbers(store: Store, character: WorldCharacter) -> dict[str, int]:
    """Return profile field -> number for the known models of a character.

    An imported character has the numbers themselves, under the names of ghosts.
    """
    numbers = {
        MODEL_FIELDS[name]: int(character.appearance[field])
        for name, field in GHOST_MODELS.items()
        if field in character.appearance
    }
    paths = {
        MODEL_FIELDS[name]: model_key(str(path))
        for name, path in character.appearance.items()
        if name in MODEL_FIELDS
    }
    known = {**store.login.models.numbers(paths.values()), **shipped_models()}
    return numbers | {field: known[path] for field, path in paths.items() if path in known}


_log = logger("world")
LINK = "link"
"""The lease of the node that registers the world."""


@dataclass(frozen=True, slots=True)
class LinkAccount:
    """The account with which the world registers."""

    account: str
    password: str


def built_in_account(store: Store, name: str, moment: Moment, atlas: Atlas) -> LinkAccount:
    """Give the built-in world a row and a new password, which never leaves this process.

    A world that was renamed in the configuration keeps its row, and so its characters. The login
    server's list of them is reconciled, in case the process was killed between two steps. Raises
    `DuplicateName` if another world has the name.
    """
    # A new one for each start, so it is stored only as a hash.
    password = secrets.token_hex(16)
    hashed = hash_link_password(password)
    world = store.login.worlds.put_built_in(name, hashed, moment)
    changes = reconcile(store, world.id, atlas)
    if changes:
        _log.warn("the character list was brought in line with the world: {n} changes", n=changes)
    return LinkAccount(BUILT_IN_ACCOUNT, password)


def login_link(
    ground: ProcessContext,
    processes_endpoint: ProcessesEndpoint,
    account: LinkAccount,
    admission: WorldAdmissionRules,
    models: Models,
    *,
    login_address: tuple[str, int] | None,
    report: Callable[[WorldEvent], None] = lambda _event: None,
) -> LoginLink:
    """Return the link to the configured login servers, or to the one in this process.

    `login_address` is where the one in this process listens, None when there is none.
    """
    servers = parameters.login_servers(ground.config)
    # Configured login servers replace the built-in one; a world registers with one of them.
    if not servers and login_address is not None:
        host, port = login_address
        servers = (LoginServerAddress(reachable(host), port),)
    return LoginLink(
        WorldLinkConfig(servers=servers),
        _registry(ground, processes_endpoint, account, admission, models, report=report),
        ground.tasks,
        ground.reactor,
        ground.scheduler,
        random=random.SystemRandom().random,
    )


def _registry(
    ground: ProcessContext,
    processes_endpoint: ProcessesEndpoint,
    account: LinkAccount,
    admission: WorldAdmissionRules,
    models: Models,
    *,
    report: Callable[[WorldEvent], None],
) -> WorldRegistry:
    world = ground.config.world
    host, port = ground.advertised_address()
    creation = CharacterCreation(
        CreationRules(creations_per_hour=world.creations_per_hour),
        NameRules(blocked=world.name_filter),
        processes_endpoint.characters,
        shipped_catalog(),
        ground.atlas.start_of,
        ground.scheduler,
    )
    config = RegistryConfig(
        name=world.name,
        account=account.account,
        password=account.password,
        address=host,
        port=port,
        internal_address=world.internal_address,
        max_level=world.max_level,
    )
    return WorldRegistry(
        config,
        characters=processes_endpoint.characters,
        creation=creation,
        admission=admission,
        zone_servers=processes_endpoint.processes.zone_servers,
        zones=ground.atlas.described,
        models=models,
        clock=ground.scheduler,
        report=report,
        claiming_keys=processes_endpoint.claiming_keys,
    )


TRY_AGAIN: Final = 1.0
"""Seconds until the world is registered again, after the database has failed."""


class WorldLink:
    """The link of the world in this process; in a cluster, of the node that has the lease."""

    def __init__(
        self,
        ground: ProcessContext,
        processes_endpoint: ProcessesEndpoint,
        account: LinkAccount,
        admission: WorldAdmissionRules,
        models: Models,
        *,
        login_address: tuple[str, int] | None,
        report: Callable[[WorldEvent], None] = lambda _event: None,
    ) -> None:
        """Make the link as `login_link` does; `start` begins it."""
        self._ground = ground
        self._processes = processes_endpoint.processes
        self._account = account
        self._has_server = login_address is not None or bool(ground.config.world.login_servers)
        self._make = partial(
            login_link, ground, processes_endpoint,
            admission=admission, models=models, login_address=login_address, report=report,
        )  # fmt: skip
        self.link: LoginLink | None = None
        """The link, while this process has it."""
        self._is_held = False
        self._is_settling = False
        self._again: DelayedCall | None = None
        """The next attempt, after one that failed."""
        self._why = ""
        """Why the last attempt failed; each reason is logged once."""
        # Tasks of its own: the end of a link waits for all tasks of the world.
        self._tasks = Tasks(_log)

    @property
    def counters(self) -> Counter[str]:
        """What the link has counted."""
        return Counter() if self.link is None else self.link.counters

    def start(self) -> None:
        """Begin the link, or begin to ask for the lease."""
        CharacterLocations(self._processes.presence, self._ground.atlas, self.send)
        relay_bug_reports(self._processes.bus, self.send)
        node = self._ground.node
        if node is None:
            self._begin(self._account)
        # A node without a login server leaves the link to the others.
        elif self._has_server:
            node.node.want(LINK, partial(self._held, is_held=True), self._held)

    async def stop(self) -> None:
        """Close the link, and wait until the requests that came on it are done."""
        node = self._ground.node
        if node is None:
            await self._end()
        else:
            node.node.give_up_lease(LINK)
            self._is_held = False
            self._try_no_more()
            await self._tasks.finished()

    def send(self, message: LinkMessage) -> None:
        """Send a message, if this process has the link."""
        if self.link is not None:
            self.link.send(message)

    def status_changed(self) -> None:
        """Send the world's status soon, if this process has the link."""
        if self.link is not None:
            self.link.status_changed()

    def _held(self, *, is_held: bool = False) -> None:
        self._is_held = is_held
        self._begin_to_settle()

    def _begin_to_settle(self) -> None:
        self._try_no_more()
        if not self._is_settling:
            self._is_settling = True
            self._tasks.spawn(self._settle())

    def _try_no_more(self) -> None:
        if self._again is not None:
            self._again.cancel()
            self._again = None

    async def _settle(self) -> None:
        """Begin or close the link until it is as the lease says; that may change meanwhile."""
        try:
            while self._is_held != (self.link is not None):
                if self.link is not None:
                    await self._end()
                else:
                    account = await self._renewed()
                    # The lease may have been lost during the wait.
                    if self._is_held:
                        self._begin(account)
        except StoreError as error:
            if str(error) != self._why:
                self._why = str(error)
                _log.warn("the world cannot be registered: {why}; trying again", why=self._why)
            # A single lost connection does not cost the node its lease, so nobody else would try.
            if self._is_held:
                self._again = self._ground.scheduler.later(TRY_AGAIN, self._begin_to_settle)
        finally:
            self._is_settling = False

    async def _renewed(self) -> LinkAccount:
        """Return the account; that of the built-in world gets a new password."""
        ground = self._ground
        if ground.config.world.login_servers:
            return self._account
        renewed: LinkAccount = await ground.storage.with_store(
            partial(
                built_in_account, name=ground.config.world.name,
                moment=ground.scheduler.moment(), atlas=ground.atlas,
            )
        )  # fmt: skip
        return renewed

    def _begin(self, account: LinkAccount) -> None:
        self._why = ""
        self.link = self._make(account)
        self.link.start()

    async def _end(self) -> None:
        link, self.link = self.link, None
        if link is not None:
            await link.stop()
