"""The interfaces that the login service needs, as protocols.

The login package uses no database, thread or socket: it awaits these methods, and the shell
connects them (`emu.store` implements the stores). They are coroutines so that an implementation may
run in a worker thread; none of them may block.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from emu.model import Account, Character, ClientLog, CreateResponse, Equipment, PlayResponse
from emu.times import Moment, Monotonic
from emu.worlds import RegisteredWorld, WorldEntry, ZoneDescription


@dataclass(frozen=True, slots=True)
class LoginGranted:
    """The name and password are right and the account may log in."""

    account: Account


class LoginRefusalReason(enum.StrEnum):
    """Why a login is refused; the values are the texts of logs and metrics."""

    BAD_PASSWORD = "bad password"  # noqa: S105  # a reason, not a password
    NO_SUCH_ACCOUNT = "no such account"
    DISABLED = "disabled"
    NO_RANK = "no rank"
    """The account may not sign in as an operator."""
    BANNED = "banned"
    ADDRESS_BANNED = "address banned"
    NAME_NOT_ALLOWED = "name not allowed"
    PASSWORD_NOT_ALLOWED = "password too short for a new account"  # noqa: S105  # a reason
    TOO_MANY_ATTEMPTS = "too many attempts"
    TOO_MANY_CLIENTS = "too many clients from this address"
    BUSY = "busy"
    """Too many password checks wait, or memory is short."""
    SERVER_PROBLEM = "server problem"
    """The account store failed."""


@dataclass(frozen=True, slots=True)
class LoginRefusal:
    """A login is refused."""

    reason: LoginRefusalReason


class AccountStore(Protocol):
    """Accounts."""

    async def find_account(self, name: str) -> Account | None:
        """Return the account of a name, compared without regard to case."""

    async def add_account(self, name: str, password: str, created: Moment) -> Account:
        """Add an account; `password` is a PHC string. Raises `DuplicateName`."""

    async def set_password(
        self, account_id: int, password: str, expected: str | None = None
    ) -> bool:
        """Replace the stored password hash; return whether that was done.

        With `expected`, replace it only while that is still the stored hash, so that an upgrade of
        the hash cannot undo a change of the password.
        """

    async def record_login(
        self, account_id: int, address: str, version: int, moment: Moment
    ) -> None:
        """Store the time, address and client version of an account's login."""


class CharacterStore(Protocol):
    """The login server's copy of every character."""

    async def characters_of(self, account_id: int) -> Sequence[Character]:
        """Return the account's characters that are not deleted, oldest first."""

    async def add_character(self, character: Character) -> Character:
        """Store a new character with its colors in one transaction; return it with its row id.

        Older rows of the same world and char id are marked deleted in the same transaction.
        """

    async def delete_character(
        self, account_id: int, world_id: int, char_id: int, name: str
    ) -> bool:
        """Mark one character deleted.

        Return whether exactly that row existed and was not deleted.
        """

    async def update_character(
        self, account_id: int, world_id: int, char_id: int, changes: Mapping[str, int | str | float]
    ) -> bool:
        """Change columns of one character; return whether the row exists.

        Keys are `level`, `race`, `class_`, `gender`, `name`, `zone_id`, `zone_name`, `last_played`,
        or an `appearance` key such as `race_type`.
        """

    async def set_equipment(self, world_id: int, items: Sequence[tuple[int, Equipment]]) -> None:
        """Store a batch of (char id, equipment) of one world in one transaction."""


class RegisteredWorlds(Protocol):
    """Registered worlds and what they report."""

    async def find_world_by_account(self, account: str) -> RegisteredWorld | None:
        """Return the world that registers with an account name."""

    async def add_world(self, world: RegisteredWorld, created: Moment) -> RegisteredWorld:
        """Add an unregistered world, if a setting allows it, and return it with its id.

        Raises `DuplicateName`.
        """

    async def world_connected(
        self, world_id: int, address: str, version: str, moment: Moment
    ) -> None:
        """Store the address and program version of a world that has registered."""

    async def record_status(
        self, world_id: int, status: int, players: int, zones: int, moment: Moment
    ) -> None:
        """Store a world's status report; the status is -4 when its link is gone."""

    async def set_zones(self, world_id: int, zones: Sequence[ZoneDescription]) -> None:
        """Store zone names and descriptions of one world in one transaction."""

    async def zones_of(self, world_id: int) -> Sequence[ZoneDescription]:
        """Return the zones that a world has described, by ascending id."""


class LogStore(Protocol):
    """Messages kept for operators."""

    async def add_client_log(self, log: ClientLog) -> None:
        """Store one client log."""

    async def add_bug_report(
        self, world_id: int, account_id: int, fields: Mapping[str, str | int], received: Moment
    ) -> None:
        """Store one bug report relayed by a world."""


class WorldObserver(Protocol):
    """The client side's subscription to events of worlds."""

    def world_changed(self, entry: WorldEntry, now: Monotonic) -> None:
        """A world appeared, or its entry changed."""

    def world_gone(self, world_id: int, now: Monotonic) -> None:
        """A world's link is down."""

    def play_answered(self, answer: PlayResponse, now: Monotonic) -> None:
        """A world answered a play request."""

    def create_answered(self, answer: CreateResponse, now: Monotonic) -> None:
        """A world answered a create request."""


class ConnectedWorlds(Protocol):
    """The connected worlds, as the client side of the login service sees them."""

    def observe(self, observer: WorldObserver) -> None:
        """Set the subscriber to changes of worlds."""

    def listed(self) -> Sequence[WorldEntry]:
        """Return the worlds to list, by ascending id."""

    def connected(self, world_id: int) -> WorldEntry | None:
        """Return a world that is connected now."""

    def request_play(
        self, world_id: int, account_id: int, char_id: int, client_address: str, now: Monotonic
    ) -> bool:
        """Request a character's entry from a world; return False when it is not connected."""

    def request_create(
        self, world_id: int, account_id: int, client_version: int, payload: bytes, now: Monotonic
    ) -> bool:
        """Pass a create request on with the real account id in it; return False as above."""

    def notify_delete(self, world_id: int, account_id: int, char_id: int, now: Monotonic) -> None:
        """Notify a world that a character was deleted."""


class Authenticator(Protocol):
    """Checks logins, and limits wrong passwords."""

    async def authenticate(
        self,
        name: str,
        password: bytes,
        address: str,
        version: int,
        now: Monotonic,
        *,
        wanted: Callable[[], bool],
    ) -> LoginGranted | LoginRefusal:
        """Check a name and the raw bytes of a password.

        Create the account when a setting allows it.

        `wanted` returns whether the client still waits; when it does not, nothing slow is started.
        """

    async def remember_login(
        self, account: Account, address: str, version: int, moment: Moment
    ) -> None:
        """Store an accepted login; the client has its reply already."""
