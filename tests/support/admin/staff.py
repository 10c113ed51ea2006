"""The operators' page over accounts in memory, one of each rank."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from emu.admin.web.dashboard import SignInDenial
from emu.commands import Registry
from emu.config.administration import WebConfig
from emu.model import Account
from emu.net.scheduler import Scheduler
from emu.net.watch import Watch
from emu.net.web.dashboard import DashboardEndpoint

RANKS = {"plain": 0, "guide": 10, "master": 100, "boss": 200}
PASSWORD = "right password"


class StaffInMemory:
    """Implements `emu.admin.web.dashboard.DashboardAccounts`."""

    def __init__(self) -> None:
        self.accounts = {
            name: Account(number, name, "hash") for number, name in enumerate(RANKS, 1)
        }
        self.ranks = {self.accounts[name].id: rank for name, rank in RANKS.items()}

    async def verify(
        self, name: str, password: str, address: str, wanted: Callable[[], bool]
    ) -> Account | SignInDenial:
        account = self.accounts.get(name)
        if account is None or password != PASSWORD:
            return SignInDenial("bad password")
        return account

    async def find(self, name: str) -> Account | None:
        return self.accounts.get(name)

    async def rank_of(self, account_id: int) -> int:
        return self.ranks.get(account_id, 0)


class StaffedDashboard:
    """A dashboard; `cookie_of` signs somebody in without the page."""

    def __init__(self, scheduler: Scheduler, watch: Watch) -> None:
        self.staff = StaffInMemory()
        self.scheduler = scheduler
        self.endpoint = DashboardEndpoint(WebConfig(), self.staff, Registry(), scheduler, watch)

    def cookie_of(self, name: str, port: int) -> str:
        """Return the Cookie header of a session for an account."""
        sessions: Any = self.endpoint._sessions
        token, _ = sessions.begin(self.staff.accounts[name], self.scheduler.now())
        return f"emu-session-{port}={token}"
