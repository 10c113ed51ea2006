"""Which world somebody at the other end of a link is, and whether it may come in or stay.

Asks the store of registered worlds and the banned addresses; keeps no link.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from emu.errors import DuplicateName
from emu.limits.addresses import address_key
from emu.limits.throttle import Allowance, Throttle
from emu.link.login_end import BAD_PASSWORD
from emu.link.password import link_password_matches
from emu.link.registration import LSInfo
from emu.login.directory.rules import Refusal, account_of, name_of
from emu.login.ports import RegisteredWorlds
from emu.model import RegisteredWorld
from emu.times import Clock, Moment


class WorldAdmission:
    """Judges worlds; `new_worlds` is how many unknown ones may come from one address."""

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
    ) -> RegisteredWorld | Refusal:
        """Find out which world this is, or why it may not come in.

        With `unregistered` one that nobody added is taken in. Raises `StoreError`.
        """
        if await self._is_address_banned(address, self._clock.moment()):
            return Refusal(BAD_PASSWORD, "address banned")
        world = await self._store.find_world_by_account(account_of(info))
        if world is None:
            if unregistered:
                return await self._add(address, info)
            return Refusal(BAD_PASSWORD, "world not registered")
        if not link_password_matches(world.password, info.password.lower()):
            return Refusal(BAD_PASSWORD, "bad password")
        if not world.enabled:
            return Refusal(BAD_PASSWORD, "world disabled")
        return world

    async def _add(self, address: str, info: LSInfo) -> RegisteredWorld | Refusal:
        if not self._new_worlds.take(address_key(address), self._clock.now()):
            return Refusal(BAD_PASSWORD, "too many new worlds from this address")
        try:
            new = RegisteredWorld(0, name_of(info), account_of(info), info.password.lower())
            return await self._store.add_world(new, self._clock.moment())
        except DuplicateName:
            return Refusal(BAD_PASSWORD, "world name taken")

    async def reason_to_go(self, address: str, registered: RegisteredWorld) -> str | None:
        """Return why a world that came in may not stay, or None. Raises `StoreError`."""
        world = await self._store.find_world_by_account(registered.account)
        banned = await self._is_address_banned(address, self._clock.moment())
        if world is None or world.id != registered.id:
            return "world removed"
        if not world.enabled:
            return "world disabled"
        return "address banned" if banned else None
