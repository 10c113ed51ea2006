"""How the world of this process registers with login servers: with which, and as what."""

from __future__ import annotations

import random

from emu.limits.addresses import reachable
from emu.link.settings import LoginServerAddress, WorldLinkConfig
from emu.looks.models import Models
from emu.net import parameters
from emu.net.fleet.part import FleetPart, Ground
from emu.net.link.client import LoginLink
from emu.net.world.account import LinkAccount
from emu.structs import shipped_catalog
from emu.world.door.admission import Admission
from emu.world.registration.creation import CharacterCreation
from emu.world.registration.names import NameRules
from emu.world.registration.registry import RegistryConfig, WorldRegistry
from emu.world.rules import CreationRules


def login_link(
    ground: Ground,
    fleet: FleetPart,
    account: LinkAccount,
    admission: Admission,
    models: Models,
    *,
    login_address: tuple[str, int] | None,
) -> LoginLink:
    """Return the link to the configured login servers, or to the one in this process.

    `login_address` is where the one in this process listens, None when there is none.
    """
    servers = parameters.login_servers(ground.config)
    if not servers and login_address is not None:
        host, port = login_address
        servers = (LoginServerAddress(reachable(host), port),)
    return LoginLink(
        WorldLinkConfig(servers=servers),
        _registry(ground, fleet, account, admission, models),
        ground.tasks,
        ground.reactor,
        ground.scheduler,
        random=random.SystemRandom().random,
    )


def _registry(
    ground: Ground, fleet: FleetPart, account: LinkAccount, admission: Admission, models: Models
) -> WorldRegistry:
    world = ground.config.world
    host, port = ground.told_address()
    creation = CharacterCreation(
        CreationRules(creations_per_hour=world.creations_per_hour),
        NameRules(blocked=world.name_filter),
        fleet.characters,
        shipped_catalog(),
        ground.atlas.start_of,
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
        characters=fleet.characters,
        creation=creation,
        admission=admission,
        zone_servers=fleet.processes.zone_servers,
        zones=ground.atlas.described,
        models=models,
        clock=ground.scheduler,
    )
