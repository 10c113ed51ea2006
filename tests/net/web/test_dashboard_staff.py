from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from emu.admin.web.dashboard import SignInDenial
from emu.login.ports import LoginGranted, LoginRefusal, LoginRefusalReason
from emu.model import Account
from emu.net.web.dashboard import StaffAccounts
from tests.support.coroutines import finish

BOSS = Account(1, "boss", "hash")


class Service:
    def __init__(self, verdict: LoginGranted | LoginRefusal) -> None:
        self.verdict = verdict
        self.asked: tuple[Any, ...] = ()

    async def authenticate(self, *asked: Any, wanted: Any) -> LoginGranted | LoginRefusal:
        self.asked = (*asked, wanted())
        return self.verdict


def staff(service: Any) -> StaffAccounts:
    storage: Any = SimpleNamespace(
        accounts=SimpleNamespace(find_account="find"),
        world_characters=SimpleNamespace(rank_of="rank"),
    )
    clock: Any = SimpleNamespace(now=lambda: 7.0)
    return StaffAccounts(service, storage, clock)


def test_a_password_is_checked_by_the_service_as_bytes() -> None:
    service = Service(LoginGranted(BOSS))
    found = finish(staff(service).verify("boss", "gehëim", "192.0.2.1", lambda: True))
    assert found is BOSS
    assert service.asked == ("boss", "gehëim".encode(), "192.0.2.1", 0, 7.0, True)


def test_a_refusal_is_its_reason() -> None:
    work = staff(Service(LoginRefusal(LoginRefusalReason.BANNED))).verify(
        "boss", "x", "192.0.2.1", lambda: True
    )
    assert finish(work) == SignInDenial(LoginRefusalReason.BANNED, 403)
