"""A test login of the doctor, over the same path as players.

Without an account it opens a session and attempts a login that must be refused. With one it goes on
to worlds and characters, and to a session with the world. On request it enters the world.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Final

from emu.admin.snapshot import Snapshot
from emu.cli.doctor.findings import Finding, Level, fail, ok, warn
from emu.client import Credentials, LoginDenied, flow
from emu.client.flow import Entrance, StepFailed
from emu.config import Address
from emu.config.readers import address as read_address
from emu.errors import EmuError
from emu.limits.addresses import reachable
from emu.net.client.connection import ClientConnection, open_client
from emu.net.client.world_connection import enter_world
from emu.opcodes import OpcodeTables

LOGIN: Final = "login"
NOBODY: Final = "emu-doctor"
"""The name of an account that should not exist."""
BAD_LOGIN: Final = 1
"""The login reply for a wrong name or password."""
TIMEOUT: Final = 5.0
NO_ANSWER: Final = "read the log, find what blocks the process (emu top), restart it"


def near_address(now: Snapshot, key: str) -> Address | None:
    """Return the address of a UDP listener for a client on this machine, None if it is not open.

    `key` is the setting of the listener: ``login.listen`` or ``world.listen``.
    """
    for one in now.ports:
        if one.key == key and one.protocol == "UDP":
            at = read_address(one.address)
            return Address(reachable(at.host), at.port)
    return None


class DoctorVisit:
    """One visit. Each step adds a finding; a step that fails is the last."""

    def __init__(self, reactor: Any, at: Address, tables: OpcodeTables) -> None:
        self._reactor = reactor
        self._at = at
        self._tables = tables
        self.findings: list[Finding] = []

    async def without_account(self, *, accounts_are_made: bool) -> None:
        """Open a session, and attempt a login that must be refused.

        If a login creates its account (`accounts_are_made`), no name is tried.
        """
        await self._step(self._knock, NO_ANSWER)
        if accounts_are_made:
            what = "no login was tried: login.auto_create_accounts would create an account"
            fix = "emu doctor --login NAME uses an existing account"
            self.findings.append(warn(LOGIN, what, fix))
        elif self._is_well:
            await self._step(self._be_refused, NO_ANSWER)

    async def with_account(
        self, entrance: Entrance, world: Address | None = None, *, enters: bool = False
    ) -> None:
        """Log in, list worlds and characters, and open a session with the world at an address.

        With `enters` a character stands in the world for a moment. Players see it, and its place is
        saved.
        """
        await self._step(self._knock, NO_ANSWER)
        name = entrance.credentials.user
        if self._is_well:
            await self._step(
                lambda: self._log_in(entrance, enters=enters),
                f"emu account show {name}; emu account password {name} sets another password",
            )
        if self._is_well and world is not None:
            await self._step(lambda: self._reach_world(world), NO_ANSWER)
        if self._is_well and enters:
            await self._step(
                lambda: self._come_in(entrance),
                "read the log; check that UDP of world.listen is open and world.advertise is right",
            )

    @property
    def _is_well(self) -> bool:
        return all(found.level is Level.OK for found in self.findings)

    async def _step(self, work: Callable[[], Coroutine[Any, Any, Finding]], fix: str) -> None:
        try:
            self.findings.append(await work())
        except EmuError as error:
            self.findings.append(fail(LOGIN, str(error), fix))

    async def _knock(self) -> Finding:
        return ok(LOGIN, f"a session with {self._at} takes {await self._ping(self._at):.0f} ms")

    async def _reach_world(self, at: Address) -> Finding:
        return ok(LOGIN, f"a session with the world at {at} takes {await self._ping(at):.0f} ms")

    async def _ping(self, at: Address) -> float:
        """Open a session; return its duration in milliseconds."""
        client = await open_client(
            self._reactor, at.host, at.port, None, timeout=TIMEOUT, tables=self._tables
        )
        async with client:
            await client.run(flow.ping())
            return sum(step.seconds for step in client.steps) * 1000

    async def _be_refused(self) -> Finding:
        # A random password, because somebody may have created this account.
        async with await self._open(Credentials(NOBODY, secrets.token_hex(8))) as client:
            try:
                await client.run(flow.login())
            except StepFailed as error:
                return judge_refusal(client.core.events, str(error))
        return fail(LOGIN, f"{NOBODY} logged in with a made-up password", "read the log")

    async def _log_in(self, entrance: Entrance, *, enters: bool) -> Finding:
        async with await self._open(entrance.credentials) as client:
            await client.run(flow.whole_list())
            worlds = [world.name for world in client.core.worlds.values() if world.up]
            characters = [one.name for one in client.core.characters or () if not one.deleted]
        return judge_lists(entrance.credentials.user, worlds, characters, enters=enters)

    async def _come_in(self, entrance: Entrance) -> Finding:
        world = await enter_world(
            self._reactor, self._at.host, self._at.port, entrance, timeout=TIMEOUT,
            tables=self._tables,
        )  # fmt: skip
        await world.leave()
        return ok(LOGIN, "a character entered the world and left")

    async def _open(self, credentials: Credentials | None) -> ClientConnection:
        return await open_client(
            self._reactor, self._at.host, self._at.port, credentials, timeout=TIMEOUT,
            tables=self._tables,
        )  # fmt: skip


def judge_refusal(events: Iterable[object], text: str) -> Finding:
    """Judge the end of a login that must be refused."""
    codes = [event.code for event in events if isinstance(event, LoginDenied)]
    if codes == [BAD_LOGIN]:
        return ok(LOGIN, "a wrong name and password are refused, as they must be")
    if codes:
        return warn(LOGIN, f"a wrong name and password: {text}", "read the log")
    return fail(LOGIN, text, NO_ANSWER)


def judge_lists(
    user: str, worlds: list[str], characters: list[str], *, enters: bool = False
) -> Finding:
    """Judge the worlds and characters that a logged-in player gets."""
    if not worlds:
        return fail(LOGIN, f"{user} can log in, but no world is running", "emu world list")
    if enters and not characters:
        return warn(
            LOGIN, f"{user} can log in, but has no character to enter the world with",
            f"emu client login HOST:PORT --user {user} --create NAME creates one",
        )  # fmt: skip
    return ok(LOGIN, f"{user} logs in: worlds {', '.join(worlds)}, characters {len(characters)}")
