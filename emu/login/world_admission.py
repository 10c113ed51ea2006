"""World admission: which worlds may register, and EQ2Emulator's texts for the refused ones.

It reads the registered worlds and the banned addresses, and keeps no link. Source:
docs/protocol/link.md#registration.
"""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from emu.errors import DuplicateName
from emu.limits.addresses import address_key
from emu.limits.rates import Allowance, Throttle
from emu.link.connection import BAD_PASSWORD, INCORRECT_VERSION, POSSIBLE_HACKING
from emu.link.messages import PROTOCOL_VERSION, TYPE_DEVELOPMENT, TYPE_WORLD, LSInfo
from emu.link.settings import is_link_hash, link_password_matches
from emu.login.ports import RegisteredWorlds
from emu.login.settings import DirectoryConfig
from emu.structs import StructCatalog
from emu.times import Clock, Moment
from emu.worlds import RegisteredWorld

ACCOUNT_SIZE = 29
"""Bytes of a link account that are compared; EQ2Emulator ignores the rest."""
# EQ2Emulator requires more than three letters (docs/protocol/link.md#registration).
LEAST_NAME = 4

PLAYER_LIMIT_TEXT = "Your server reports more players than are allowed."
ZONE_LIMIT_TEXT = "Your server reports more zones than are allowed."


class WorldRefusalReason(enum.StrEnum):
    """Why a world may not register or stay; the values are the texts of logs and metrics."""

    PROTOCOL_VERSION = "protocol version not supported"
    SERVER_VERSION = "server version not allowed"
    SERVER_TYPE = "server type not supported"
    NAME_NOT_ALLOWED = "world name not allowed"
    NAME_TAKEN = "world name taken"
    BAD_PASSWORD = "bad password"  # noqa: S105  # a reason, not a password
    NOT_REGISTERED = "world not registered"
    TOO_MANY_NEW_WORLDS = "too many new worlds from this address"
    DISABLED = "world disabled"
    REMOVED = "world removed"
    ADDRESS_BANNED = "address banned"


@dataclass(frozen=True, slots=True)
class WorldRefusal:
    """A world may not register: the text that it is sent, and the reason for logs and metrics."""

    text: str
    reason: WorldRefusalReason


def check_introduction(info: LSInfo, config: DirectoryConfig) -> WorldRefusal | None:
    """Check a world's introduction, before anything is read from the store."""
    if info.protocol_version != PROTOCOL_VERSION:
        return WorldRefusal(INCORRECT_VERSION, WorldRefusalReason.PROTOCOL_VERSION)
    # One text for all wrong versions: it is the one that EQ2Emulator's worlds know.
    if "*" not in config.server_versions and info.server_version not in config.server_versions:
        return WorldRefusal(INCORRECT_VERSION, WorldRefusalReason.SERVER_VERSION)
    if info.server_type not in (TYPE_WORLD, TYPE_DEVELOPMENT):
        return WorldRefusal(POSSIBLE_HACKING, WorldRefusalReason.SERVER_TYPE)
    name, account = name_of(info), account_of(info)
    # The name is shown to all players and written to logs.
    if len(name) < LEAST_NAME or not (name.isprintable() and account.isprintable()):
        return WorldRefusal(BAD_PASSWORD, WorldRefusalReason.NAME_NOT_ALLOWED)
    if not account or not is_link_hash(info.password):
        return WorldRefusal(BAD_PASSWORD, WorldRefusalReason.BAD_PASSWORD)
    return None


def account_of(info: LSInfo) -> str:
    """Return the link account that is compared, without surrounding blanks."""
    # Bytes are cut, not letters, so the last one may be half; it is dropped.
    return info.account.encode()[:ACCOUNT_SIZE].decode(errors="ignore").strip()


def name_of(info: LSInfo) -> str:
    """Return the name that the world requests, without surrounding blanks."""
    return info.name.strip()


def account_id_offset(catalog: StructCatalog, version: int) -> int:
    """Return the offset of the account id in a client version's create request.

    Raises `UnknownStruct` when no layout covers the version.
    """
    # Every layout has the account id as four bytes; only their place differs.
    layout = catalog.layout("CreateCharacter", max(1, version), create_color=True)
    # All bits set, so that its first byte differs from the zero of the plain encoding.
    mark = 0xFFFFFFFF
    # Found by comparing two encodings, because layouts do not state offsets.
    plain, marked = layout.encode({}), layout.encode({"account_id": mark}, strict=True)
    return next(place for place, byte in enumerate(plain) if marked[place] != byte)


class WorldAdmission:
    """World admission; `new_worlds` limits the unknown worlds from one address."""

    def __init__(
        self,
        worlds: RegisteredWorlds,
        is_address_banned: Callable[[str, Moment], Awaitable[bool]],
        clock: Clock,
        new_worlds: Allowance,
    ) -> None:
        self._store = worlds
        self._is_address_banned = is_address_banned
        self._clock = clock
        self._new_worlds = Throttle(new_worlds)

    async def identify(
        self, address: str, info: LSInfo, *, unregistered: bool
    ) -> RegisteredWorld | WorldRefusal:
        """Return the registered world, or the reason why it is refused.

        With `unregistered`, an unknown world is added. Raises `StoreError`.
        """
        # A banned address is answered like a wrong password, so that it learns nothing.
        if await self._is_address_banned(address, self._clock.moment()):
            return WorldRefusal(BAD_PASSWORD, WorldRefusalReason.ADDRESS_BANNED)
        world = await self._store.find_world_by_account(account_of(info))
        if world is None:
            if unregistered:
                return await self._add(address, info)
            return WorldRefusal(BAD_PASSWORD, WorldRefusalReason.NOT_REGISTERED)
        # The hash is hex digits, which may be capital letters.
        if not link_password_matches(world.password, info.password.lower()):
            return WorldRefusal(BAD_PASSWORD, WorldRefusalReason.BAD_PASSWORD)
        # After the password: only the world's operator may learn that it is disabled.
        if not world.enabled:
            return WorldRefusal(BAD_PASSWORD, WorldRefusalReason.DISABLED)
        return world

    async def _add(self, address: str, info: LSInfo) -> RegisteredWorld | WorldRefusal:
        if not self._new_worlds.take(address_key(address), self._clock.now()):
            return WorldRefusal(BAD_PASSWORD, WorldRefusalReason.TOO_MANY_NEW_WORLDS)
        try:
            # The first link password of an unknown world becomes its password.
            new = RegisteredWorld(0, name_of(info), account_of(info), info.password.lower())
            return await self._store.add_world(new, self._clock.moment())
        except DuplicateName:
            return WorldRefusal(BAD_PASSWORD, WorldRefusalReason.NAME_TAKEN)

    async def reason_to_go(
        self, address: str, registered: RegisteredWorld
    ) -> WorldRefusalReason | None:
        """Return why a registered world may not stay, or None. Raises `StoreError`."""
        # By account and then by id: the account may have been given to another world since.
        world = await self._store.find_world_by_account(registered.account)
        banned = await self._is_address_banned(address, self._clock.moment())
        if world is None or world.id != registered.id:
            return WorldRefusalReason.REMOVED
        if not world.enabled:
            return WorldRefusalReason.DISABLED
        return WorldRefusalReason.ADDRESS_BANNED if banned else None
