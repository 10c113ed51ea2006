"""The interfaces between processes: world keys, presence, zone servers, stores, and a bus.

No method takes a `now`: a monotonic time has no meaning in another process, so each implementation
measures time itself. Methods whose result must be exact are awaited; information that only has to
arrive soon is not. A call that cannot reach the other processes raises `EmuError`, usually a
`StoreError`.

The world owns its characters; the login server only keeps a copy for its list. Every call of a
store may raise `StoreError`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from emu.correspondence import (
    CharacterMailbox,
    Letter,
    NewLetter,
    NewPetition,
    Petition,
    PetitionLimits,
    Postage,
    Posted,
    SendResult,
    Taken,
)
from emu.facts import PlacementFact
from emu.guilds import Guild, GuildChange, GuildSummary
from emu.items.held import Thing
from emu.ledger import Moved, Movement, Owner
from emu.model import (
    CharacterStanding,
    EntryOrigin,
    Handoff,
    Present,
    SavedState,
    SpawnMemory,
    WorldCharacter,
)
from emu.times import Moment

Note = Mapping[str, str | int | float | bool | bytes | None]
"""A message of the bus: named plain values, which any broker can carry."""

CAME: Final = "processes.came"
GONE: Final = "processes.gone"
LOST: Final = "processes.lost"
"""Topics of the bus itself, published only in the process that notices.

`CAME` and `GONE`: another process can be reached, or no longer. A process that was restarted has
gone and come. `LOST`: the connection to a broker was broken here or there, so that notes of another
process may be lost, and ours to it. All have its name in ``process``; `CAME` also has its own
description.
"""


class HandoffKeys(Protocol):
    """World keys, which prove to the world that the login server has sent a client.

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
        *,
        is_only: bool = False,
    ) -> int:
        """Return a new key; it replaces an unused one of the same character.

        With `is_only`, it replaces all of the account. The other arguments are the fields of the
        key's `Handoff`. Raises `LimitExceeded` when too many keys are unused.
        """

    async def redeem(self, account_id: int, key: int) -> Handoff | None:
        """Use a key; return None if it is unknown, used, too old or another account's.

        A wrong account leaves the key unused, so that guessing cannot lock a player out.
        """

    async def withdraw(self, char_id: int) -> None:
        """Remove the keys of a character that may no longer be played."""

    async def withdraw_account(self, account_id: int) -> None:
        """Remove the keys of an account that is about to enter with another character."""

    async def withdraw_entries(self, below: int) -> None:
        """Remove the keys of characters of a rank below `below` that are not in the world.

        Keys of characters that change their zone stay valid.
        """

    async def held_by_others(self, account_id: int) -> int:
        """Return how many unused keys belong to other accounts."""


class Presence(Protocol):
    """The characters in the world: entered, link-dead or gone.

    Each process has a complete copy, so nothing is awaited; changes of other processes arrive soon.
    """

    @property
    def players(self) -> int:
        """Players in the world, link-dead ones included, hidden ones not."""

    @property
    def zones(self) -> int:
        """Zones with at least one player who is not hidden."""

    @property
    def processes(self) -> Mapping[str, int]:
        """How many characters each process has, for those that have any."""

    @property
    def hidden(self) -> Sequence[Present]:
        """The hidden characters."""

    def online(self, rank: int) -> int:
        """Return how many characters that a rank may see are not link-dead."""

    def players_besides(self, account_id: int) -> int:
        """Return how many players of other accounts are in the world and not hidden."""

    def of_account(self, account_id: int) -> Sequence[Present]:
        """Return the characters of an account."""

    def in_zone(self, zone_id: int) -> Sequence[Present]:
        """Return the characters in a zone, hidden ones included."""

    def starting_with(self, start: str) -> Iterator[Present]:
        """Yield the characters whose names begin with a text, by name, without regard to case.

        Nobody may enter or leave before the last one.
        """

    def is_playing(self, account_id: int, *, besides: int = 0) -> bool:
        """Return whether the account has a client in the world that is not link-dead.

        The character `besides` does not count.
        """

    def __iter__(self) -> Iterator[Present]:
        """All characters in the world, of every process; a snapshot."""

    def find(self, char_id: int) -> Present | None:
        """Return a character in the world by its id."""

    def named(self, name: str) -> Present | None:
        """Return a character in the world by its name, without regard to case."""

    def entered(self, present: Present, send_away: Callable[[], None]) -> None:
        """Add a character that has entered this process, has returned, or has changed its zone.

        `send_away` takes it out of the world. It is called in this process: for a dismissal from
        any process, and when another process has let in the same character since.
        """

    def seen(
        self,
        char_id: int,
        *,
        away: bool | None = None,
        anonymous: bool | None = None,
        hidden: bool | None = None,
        name: str | None = None,
    ) -> None:
        """Change how a character of this process appears to others.

        None leaves a value as it is.
        """

    def lost_link(self, char_id: int) -> None:
        """Record that a character's client was lost without leaving the world."""

    def left(self, char_id: int) -> None:
        """Remove a character that has left the world."""

    def forget(self, char_id: int) -> None:
        """Remove a character from this process; the others notice it later."""

    def dismiss(self, char_id: int) -> None:
        """Take a character out of the world, in whichever process it is."""

    def is_lost(self, char_id: int) -> bool:
        """Return whether a character was in a process that is lost."""

    def observe(self, changed: Callable[[int, Present | None], None]) -> None:
        """Call `changed` with each character that enters or changes, and with None for one gone."""

    def tick(self) -> None:
        """Publish what the others need in order to notice what they have missed."""


@dataclass(frozen=True, slots=True)
class ZoneAddress:
    """Where clients reach an instance of a zone: its node, that node's address, its number."""

    node: str
    host: str
    port: int
    instance: int = 0


class ZoneServers(Protocol):
    """The node of each zone: the process that runs it."""

    @property
    def may_run(self) -> bool:
        """Whether this process ever runs zones; a node may be there for logins alone."""

    def serves(self, zone_id: int) -> bool:
        """Return whether this process runs a zone, or may start it at any time."""

    def instances(self, zone_id: int) -> Sequence[int] | None:
        """Return the numbers of the instances that this process runs; None if it runs all."""

    async def servers(self) -> Mapping[int, Sequence[str]]:
        """Return the nodes that run each zone, none of a single process. Raises `StoreError`."""

    async def elsewhere(self, zone_id: int, instance: int | None = None) -> ZoneAddress | None:
        """Return where a player enters a zone, or None for this process.

        `instance` is one that was placed on another node: its players go there. A zone that no node
        runs is placed on one. Raises `Unanswered` when no node can run it, and `StoreError`.
        """


class Subscription(Protocol):
    """A subscription to a topic, as subscriber or answerer."""

    def cancel(self) -> None:
        """End the subscription; repeated calls do nothing."""


class Bus(Protocol):
    """Notes to all subscribers of a topic, and questions to its answerer.

    A topic is one or more tokens of ``[a-z0-9_-]`` with dots between them; other texts raise
    `LocalProtocolError`, as does a note that is too large for any broker.

    Notes may be lost: when a broker stands still or a connection breaks, nobody is informed. So no
    topic may need every note. A state of which each process has a copy is an
    `emu.processes.tables.SharedTable`, which notices what it lacks.
    """

    @property
    def is_connected(self) -> bool:
        """Whether other processes can be reached; always, if there are none."""

    def publish(self, topic: str, note: Note) -> None:
        """Deliver a note to all subscribers of a topic, in every process; there may be none.

        The notes of one publisher arrive in order, each at most once, in the publisher's own
        process at once. Never waits.
        """

    def subscribe(self, topic: str, hear: Callable[[Note], None]) -> Subscription:
        """Call `hear` with each note of a topic from now on.

        Its exceptions are reported; the other subscribers still get the note.
        """

    def answer(self, topic: str, answer: Callable[[Note], Awaitable[Note]]) -> Subscription:
        """Answer the questions of a topic.

        If several processes answer one, this process is asked if it is one of them, otherwise the
        one that began last. A topic with the name of a process in it reaches that process alone.
        """

    async def request(self, topic: str, note: Note) -> Note:
        """Send a question to the answerer of a topic.

        Raises `Unanswered` when there is none, at once, or no answer in time, and `CommandError`
        with the text of the answerer's exception.
        """


@dataclass(frozen=True, slots=True)
class BusMember:
    """This process on the bus."""

    name: str
    """The unique name of this process."""
    run: int
    """A number that differs for each start of a process."""
    bus: Bus


@dataclass(frozen=True, slots=True)
class Processes:
    """The services that one process shares with the others."""

    name: str
    """The unique name of this process."""
    bus: Bus
    handoffs: HandoffKeys
    presence: Presence
    zone_servers: ZoneServers
    others: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The processes that can be reached, each with ``host`` and ``port`` for clients."""
    run: int | None = None
    """A number that differs for each start of a process; None for the only process of a world."""


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

    async def claim(self, account_id: int, char_id: int, holder: str) -> Sequence[WorldCharacter]:
        """Make a process the holder of a character; return the account's characters.

        The term of the character is one greater from then on, and the store refuses the saves of
        earlier terms.
        """

    async def delete(self, account_id: int, char_id: int) -> bool:
        """Mark one character deleted; return whether that row existed and was not deleted."""

    async def save_character(
        self, char_id: int, state: SavedState, *, is_awaited: bool = False
    ) -> None:
        """Store the state of a character, all of it or nothing.

        `is_awaited`: somebody waits for it, so it does not wait for the saves of others.
        Raises `OutOfDate` when a newer state is stored already, or when the term of the state is
        not the character's any more: another process plays it.
        """

    async def find_named(self, name: str) -> WorldCharacter | None:
        """Return a character by its name, without regard to case, unless it is deleted."""

    async def set_admin_status(self, char_id: int, status: int) -> None:
        """Set a character's rank, or ban it."""

    async def mute_account(self, account_id: int, until: Moment) -> None:
        """Store until when no character of an account may speak, deleted ones included."""

    async def standings(self, char_ids: Sequence[int]) -> Sequence[CharacterStanding]:
        """Return rank, name and mute of the characters that are not deleted."""


class MemoryStore(Protocol):
    """What the behaviors of spawns and zones remember."""

    async def of_zone(self, zone_id: int, first: int, most: int) -> Sequence[SpawnMemory]:
        """Return some memories of a zone's spawns, the longest unchanged ones first.

        They are `most` rows from the row `first` on, because all may be too large for one answer.
        """

    async def save_memories(self, memories: Sequence[SpawnMemory]) -> None:
        """Store memories, all of them or none; one without entries is removed."""


@dataclass(frozen=True, slots=True)
class ContentEdit:
    """A new value of one column of the content file, made in the game."""

    subject: str
    """placement, spawn or group."""
    number: int
    name: str
    """The column."""
    value: str
    """As JSON."""
    old: str
    """What the content file had there when the column was first changed, as JSON."""
    author: str
    changed: Moment

    @property
    def key(self) -> tuple[str, int, str]:
        """The primary key."""
        return self.subject, self.number, self.name


class PlacementFactStore(Protocol):
    """What is stored of placements; `emu.store.placement_facts` documents arguments and results.

    `kind` is the class of the rows, which declares their table.
    """

    async def of_zone(
        self, kind: type[Any], zone_id: int, instance: int, moment: Moment
    ) -> Sequence[Any]:
        """Return the rows of an instance of a zone that count at a moment."""

    async def save(self, kind: type[Any], rows: Sequence[PlacementFact], moment: Moment) -> None:
        """Store rows, and remove those that are not stored; all of it or nothing."""

    async def forget(self, kind: type[Any], zone_id: int, instance: int) -> None:
        """Remove the rows of an instance of a zone."""


class ContentEditStore(Protocol):
    """Edits of the content file. `emu.store.content_edits` documents arguments and results."""

    async def every(self) -> Sequence[ContentEdit]:
        """Return all edits."""

    async def save_edits(self, edits: Sequence[ContentEdit]) -> None:
        """Store edits, all of them or none."""

    async def remove(self, subject: str, number: int, name: str = "") -> int:
        """Remove the edits of a subject, or that of one column; return how many there were."""


class GuildStore(Protocol):
    """The guilds of the world. `emu.store.guilds` documents arguments and results."""

    async def find(self, guild_id: int) -> Guild | None:
        """Return a guild with its ranks and members."""

    async def of_character(self, char_id: int) -> int:
        """Return the id of a character's guild, 0 if it is in none."""

    async def named(self, name: str) -> int:
        """Return the id of a guild by its name, without regard to case; 0 if there is none."""

    async def every(self) -> Sequence[GuildSummary]:
        """Return all guilds by name."""

    async def revisions(self, guild_ids: Collection[int]) -> Mapping[int, int]:
        """Return the revisions of those of these guilds that exist, by id."""

    async def create(self, guild: Guild) -> Guild:
        """Store a new guild. Raises `DuplicateName` if its name or a member is taken."""

    async def save_change(self, guild_id: int, revision: int, change: GuildChange) -> None:
        """Store a change of a guild as it was at `revision`, all of it or nothing.

        Raises `OutOfDate` if the guild has changed since, and `DuplicateName`.
        """

    async def delete(self, guild_id: int, revision: int = 0) -> bool:
        """Remove a guild; return whether it existed.

        Raises `OutOfDate` if it has changed since `revision`; 0 removes it in any case.
        """


class LedgerStore(Protocol):
    """What moves between owners; `emu.store.ledger.LedgerRepository` documents the calls."""

    async def move(self, movement: Movement, moment: Moment) -> Moved:
        """Carry out a movement, unless one with its identity was carried out already."""

    async def move_surely(self, movement: Movement, moment: Moment) -> Moved:
        """Do what `move` does; wait while the database is locked or away."""

    async def move_later(self, movement: Movement, moment: Moment) -> Moved:
        """Do what `move` does, together with other calls; nobody waits for it."""

    async def bar(self, movement: Movement, moment: Moment) -> Moved:
        """Bar a movement unless it was carried out; wait while the database is away."""

    async def in_bank(self, char_id: int) -> int:
        """Return the coins that a character has in the bank."""

    async def prune(self, before: Moment, most: int, moment: Moment) -> int:
        """Remove the oldest entries; return how many."""


class ThingStore(Protocol):
    """The things of owners; `emu.store.things.Things` documents the calls."""

    async def of(self, owners: Collection[Owner]) -> dict[Owner, list[Thing]]:
        """Return the things of some owners."""

    async def reserve(self, count: int) -> int:
        """Take numbers for new things, and return the first of them."""


class MailStore(Protocol):
    """The letters of the world's characters; `emu.store.mail.Mailboxes` documents the calls."""

    async def send(
        self, letter: NewLetter, postage: Postage, moment: Moment, request: str
    ) -> Posted:
        """Store a letter, and take its postage and its coins from the sender, or do neither."""

    async def send_surely(
        self, letter: NewLetter, postage: Postage, moment: Moment, request: str, parcel: Movement
    ) -> Posted:
        """Send a letter with a thing, however long the database is away."""

    async def take_things(
        self, account_id: int, char_id: int, letter_id: int, moment: Moment, movement: Movement
    ) -> Moved:
        """Carry out the movement that empties a letter with a thing, if it is still there."""

    async def deliver(
        self, letter: NewLetter, postage: Postage, moment: Moment, request: str
    ) -> SendResult:
        """Store a letter that no character has sent, unless the same one lies there already."""

    async def open(
        self, account_id: int, char_id: int, postage: Postage, moment: Moment
    ) -> CharacterMailbox:
        """Settle late letters, and return the mailbox of a character."""

    async def waiting(self, char_id: int, moment: Moment) -> int:
        """Return how many unread letters a character has."""

    async def find(self, char_id: int, letter_id: int) -> Letter | None:
        """Return a letter of a character's mailbox."""

    async def mark_read(self, char_id: int, letter_id: int) -> Letter | None:
        """Mark a letter read; return it as it was before."""

    async def take_coins(
        self, account_id: int, char_id: int, letter_id: int, moment: Moment, request: str
    ) -> Taken | Letter | None:
        """Move the coins of a letter to the character; return a letter with a thing instead."""

    async def delete(self, char_id: int, letter_id: int) -> bool:
        """Remove a letter without coins; return whether there was one."""

    async def clear(self, char_id: int) -> int:
        """Remove all read letters without coins; return their number."""

    async def give_back(
        self, char_id: int, letter_id: int, postage: Postage, moment: Moment
    ) -> int | None:
        """Return a letter to its sender; return the sender's id, None if it cannot go back."""


class PetitionStore(Protocol):
    """Petitions of players; `emu.store.petitions.PetitionRepository` documents the calls."""

    async def open(self, petition: NewPetition, limits: PetitionLimits, moment: Moment) -> int:
        """Store a petition and return its number. Raises `CommandError` above a limit."""

    async def find(self, petition_id: int) -> Petition | None:
        """Return a petition by its number."""

    async def every(self, *, is_open: bool, most: int) -> Sequence[Petition]:
        """Return open petitions, the oldest first, or closed ones, the newest first."""

    async def of_account(self, account_id: int, most: int) -> Sequence[Petition]:
        """Return the newest petitions of an account."""

    async def unseen(self, char_id: int) -> Sequence[Petition]:
        """Return the petitions of a character with an answer that it has not seen."""

    async def answer(
        self, petition_id: int, text: str, operator: str, moment: Moment
    ) -> Petition | None:
        """Store an answer; None if there is no such petition."""

    async def close(self, petition_id: int, operator: str, moment: Moment) -> Petition | None:
        """Close a petition; None if there is no such open one."""

    async def cancel(self, account_id: int, petition_id: int, moment: Moment) -> Petition | None:
        """Close a player's own petition; None if the account has no such open one."""

    async def seen(self, char_id: int) -> None:
        """Record that a character has seen all answers."""


class AccountGate(Protocol):
    """The accounts and addresses that the login service bars."""

    async def kept_out(self, clients: Sequence[tuple[int, str]]) -> Sequence[int]:
        """Return the accounts that are banned, disabled or gone, or whose address is banned.

        A client is an account id and an IP address; the result is account ids. Accounts of another
        login server are unknown here, so only their addresses count.
        """


class ModelSource(Protocol):
    """A source of the numbers of models that do not ship with the project."""

    async def model_numbers(self, paths: Collection[str]) -> Mapping[str, int]:
        """Return the numbers of the known paths.

        Paths have the form of `emu.appearance.model_key`.
        """
