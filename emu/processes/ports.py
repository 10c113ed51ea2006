"""Ports between processes: world keys, who is in the world, who serves what, stores, and a bus.

No `now` is handed over: a monotonic time means nothing in another process, so whoever keeps a thing
that ends measures its time. What must be exact is awaited; what only has to be known soon is not.
Whatever cannot reach the others raises `EmuError`, most likely a `StoreError`.

The world's characters are its own: the login server only keeps a copy for its list. Every call
raises `StoreError`; that it may, is not said with each.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from emu.model import CharacterStanding, EntryOrigin, Handoff, Present, SavedState, WorldCharacter
from emu.times import Moment

Note = Mapping[str, str | int | float | bool | bytes | None]
"""What travels on the bus: plain named values, which any broker can carry."""

CAME: Final = "processes.came"
GONE: Final = "processes.gone"
"""Topics that a bus of several processes publishes itself when another one can be reached (with
what that says of itself), and when it no longer can. Their notes name the ``process``."""


class HandoffKeys(Protocol):
    """Keys that a client shows at the world's door to prove that the login server sent it.

    A key is a u32, never 0, that players cannot guess. It works once, for one account, and for a
    limited time.
    """

    async def issue(
        self,
        account_id: int,
        char_id: int,
        name: str,
        rank: int = 0,
        entry: int = EntryOrigin.LOGIN,
    ) -> int:
        """Return a new key; it replaces an unused one of the same character.

        The arguments are the fields of the `Handoff` that the key stands for. Raises
        `LimitExceeded` when too many keys are outstanding.
        """

    async def redeem(self, account_id: int, key: int) -> Handoff | None:
        """Take a key back; None when it is unknown, used, too old or another account's.

        A wrong account leaves the key as it is, so that guessing cannot lock a player out.
        """

    async def withdraw(self, char_id: int) -> None:
        """Forget every key of a character that may not be played any more."""

    async def withdraw_account(self, account_id: int) -> None:
        """Forget every key of an account that is to come in with another character."""

    async def withdraw_entries(self, below: int) -> None:
        """Forget the keys of characters with a rank lower than `below` that are not in the world.

        Those who only change their zone keep theirs.
        """

    async def held_by_others(self, account_id: int) -> int:
        """Return how many keys are outstanding that are not this account's."""


class Presence(Protocol):
    """Who is in the world: entered, link-dead or gone.

    Each process has the whole picture at hand and so nothing is awaited; what another process
    notes is seen soon.
    """

    @property
    def players(self) -> int:
        """Players that are in the world, link-dead ones too; hidden ones are not counted."""

    @property
    def zones(self) -> int:
        """Zones that somebody is in who is not hidden."""

    def players_besides(self, account_id: int) -> int:
        """Return how many players are in the world, not hidden, that are not this account's."""

    def is_playing(self, account_id: int, *, besides: int = 0) -> bool:
        """Say whether the account has a client in the world that is not link-dead.

        The character `besides` does not count.
        """

    def __iter__(self) -> Iterator[Present]:
        """All characters that are in the world, wherever; a snapshot."""

    def find(self, char_id: int) -> Present | None:
        """Return a character that is in the world."""

    def named(self, name: str) -> Present | None:
        """Return a character that is in the world by its name, without regard to case."""

    def entered(self, present: Present, send_away: Callable[[], None]) -> None:
        """Note that a character came in here, came back, or changed its zone.

        `send_away` takes it out of the world; it is called in this process, whoever asks for it,
        and when another process has let the same character in since.
        """

    def seen(
        self,
        char_id: int,
        *,
        away: bool | None = None,
        hidden: bool | None = None,
        name: str | None = None,
    ) -> None:
        """Note how a character that is here is seen now; None for what is as it was."""

    def lost_link(self, char_id: int) -> None:
        """Note that a character's client is gone without leaving the world."""

    def left(self, char_id: int) -> None:
        """Note that a character is out of the world."""

    def forget(self, char_id: int) -> None:
        """Make sure that a character is not noted as being here; nobody else is told."""

    def dismiss(self, char_id: int) -> None:
        """Send a character away, wherever it is."""


class ZoneServers(Protocol):
    """Which process serves a zone. Known to all of them, and nothing is awaited."""

    def serves(self, zone_id: int) -> bool:
        """Say whether a zone is this process' business."""

    def server_of(self, zone_id: int) -> str:
        """Return the name of the process that serves a zone; empty when there is only one."""

    def elsewhere(self, zone_id: int) -> tuple[str, int] | None:
        """Return host and port by which clients reach a zone's process, None for this process.

        Raises `Unanswered` when that process cannot be reached.
        """


class Subscription(Protocol):
    """Somebody's standing wish to hear, or to answer."""

    def cancel(self) -> None:
        """Hear no more; may be called again."""


class Bus(Protocol):
    """Notes to whom it may concern, and questions to whoever can answer. Topics are plain names."""

    def publish(self, topic: str, note: Note) -> None:
        """Tell all subscribers of a topic, in every process; nobody listening is fine.

        The notes of one publisher come in order, each once. The publisher's own process hears them
        as well.
        """

    def subscribe(self, topic: str, hear: Callable[[Note], None]) -> Subscription:
        """Have `hear` called with each note of a topic from now on.

        What it raises is reported and keeps the note from nobody else.
        """

    def answer(self, topic: str, answer: Callable[[Note], Awaitable[Note]]) -> Subscription:
        """Answer the questions of a topic; one at a time does. Raises `DuplicateName`."""

    async def request(self, topic: str, note: Note) -> Note:
        """Ask whoever answers a topic.

        Raises `Unanswered` when nobody does, or not in time, and `CommandError` with the text of
        what the other side raised.
        """


@dataclass(frozen=True, slots=True)
class Processes:
    """All that one process has of the others."""

    name: str
    """This process' own, which no other has."""
    bus: Bus
    handoffs: HandoffKeys
    presence: Presence
    zone_servers: ZoneServers
    others: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Those that can be reached, each with ``host`` and ``port`` for clients."""


class WorldCharacterStore(Protocol):
    """The world's characters."""

    async def create(self, character: WorldCharacter) -> WorldCharacter:
        """Store a new character and return it with its id.

        Raises `DuplicateName` when the name is taken, without regard to case, deleted rows
        included.
        """

    async def find(self, char_id: int) -> WorldCharacter | None:
        """Return a character that is not deleted."""

    async def of_account(self, account_id: int) -> Sequence[WorldCharacter]:
        """Return an account's characters that are not deleted."""

    async def delete(self, account_id: int, char_id: int) -> bool:
        """Mark one deleted; True when that row was there and not deleted."""

    async def save_character(self, char_id: int, state: SavedState) -> None:
        """Store what a save says of a character, all of it or nothing.

        Raises `OutOfDate` when a newer save is stored already, and when another process plays the
        character by now.
        """

    async def find_named(self, name: str) -> WorldCharacter | None:
        """Return a character that is not deleted by its name, without regard to case."""

    async def set_admin_status(self, char_id: int, status: int) -> None:
        """Set a character's rank, or ban it."""

    async def mute_account(self, account_id: int, until: Moment) -> None:
        """Remember until when no character of an account may speak, deleted ones included."""

    async def standings(self, char_ids: Sequence[int]) -> Sequence[CharacterStanding]:
        """Return rank, name and mute of those of some characters that are not deleted."""


class AccountGate(Protocol):
    """Which accounts and addresses the login service keeps out."""

    async def kept_out(self, clients: Sequence[tuple[int, str]]) -> Sequence[int]:
        """Return whose account is banned, disabled or gone, or whose address is banned.

        A client is an account id and an IP address; the answer is account ids. The accounts of
        another login server are not known here, and of those only the addresses count.
        """


class ModelSource(Protocol):
    """Where the numbers of models come from that do not ship with the project."""

    async def model_numbers(self, paths: Collection[str]) -> Mapping[str, int]:
        """Return the numbers of those paths that are known.

        Paths are as `emu.appearance.model_key` has them.
        """
