"""Accounts of those who act on the page: passwords by the login service, ranks by the store."""

from __future__ import annotations

from collections.abc import Callable

from emu.login.accounts.authentication import AccountService
from emu.login.ports import Admitted
from emu.model import Account
from emu.net.stores.storage import Storage
from emu.times import Clock

NO_VERSION = 0
"""The client version of somebody who has no client."""


class Staff:
    """Implements `emu.admin.web.desk.desk.Accounts`."""

    def __init__(self, service: AccountService, storage: Storage, clock: Clock) -> None:
        self._service = service
        self._clock = clock
        self.find = storage.accounts.find_account
        self.rank_of = storage.world_characters.rank_of

    async def verify(
        self, name: str, password: str, address: str, wanted: Callable[[], bool]
    ) -> Account | str:
        """Check a password in a worker thread, in a turn of its address."""
        verdict = await self._service.authenticate(
            name, password.encode(), address, NO_VERSION, self._clock.now(), wanted=wanted
        )
        return verdict.account if isinstance(verdict, Admitted) else verdict.reason
