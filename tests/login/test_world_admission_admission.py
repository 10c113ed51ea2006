"""Who a world is and whether it may stay; what links and operators hear is in `test_directory`."""

from __future__ import annotations

from typing import Any

from emu.limits.rates import Allowance
from emu.link.messages import LSInfo
from emu.link.settings import hash_link_password
from emu.login.world_admission import WorldAdmission, WorldRefusal
from emu.worlds import RegisteredWorld
from tests.support.coroutines import finish
from tests.support.login.directory_fakes import Stores
from tests.support.times import ManualClock

HASH = hash_link_password("secret")
KNOWN = RegisteredWorld(7, "Antonia", "antonia", HASH)
ADDRESS = "192.0.2.7"


class Bench:
    def __init__(self) -> None:
        self.stores = Stores(KNOWN)
        self.admission = WorldAdmission(
            self.stores, self.stores.is_address_banned, ManualClock(0.0), Allowance(1, 600.0)
        )

    def identify(self, account: str, password: str = HASH, *, unregistered: bool = False) -> Any:
        info = LSInfo(f" {account} ", "host", account, password)
        return finish(self.admission.identify(ADDRESS, info, unregistered=unregistered))


def test_a_world_is_known_by_account_and_password() -> None:
    bench = Bench()
    assert bench.identify("antonia") is KNOWN
    assert bench.identify("antonia", HASH[::-1]) == WorldRefusal("Bad password", "bad password")


def test_an_unknown_world_is_added_when_such_are_let_in_and_not_too_many() -> None:
    bench = Bench()
    assert bench.identify("qeynos").reason == "world not registered"
    added = bench.identify("qeynos", unregistered=True)
    assert (added.name, added.account, added.password) == ("qeynos", "qeynos", HASH)
    assert bench.identify("freeport", unregistered=True).reason.startswith("too many new worlds")


def test_why_a_world_may_not_stay() -> None:
    bench = Bench()

    def reason() -> str | None:
        return finish(bench.admission.reason_to_go(ADDRESS, KNOWN))

    assert reason() is None
    bench.stores.banned.add("192.0.2.")
    assert reason() == "address banned"
    assert bench.identify("antonia").reason == "address banned"
    bench.stores.worlds["antonia"] = RegisteredWorld(8, "Other", "antonia", HASH)
    assert reason() == "world removed"
