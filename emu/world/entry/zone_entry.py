"""Zone entry of a client: it shows its world key and enters, or its session ends.

`ZoneEntry` is what all clients share; `EnteringClient` has the state of one. The zone and its
players are the `WorldPort`'s; `EnteringLink` is the session, which the shell provides. A wrong key
gets no message, only the end of the session. Source: docs/protocol/world/entering.md,
docs/protocol/world/entering.md#denials.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, cast

from emu.dialects import Dialects
from emu.dialects.dialect import LOGIN_BY_NUMBER
from emu.errors import (
    EmuError,
    MalformedMessage,
    StoreError,
    UnknownOpcode,
    UnknownStruct,
    UnknownVersion,
)
from emu.gather import both
from emu.mailbox import Mailbox
from emu.model import Handoff, WorldCharacter
from emu.processes.claiming import OwnedThings, UsedKey
from emu.processes.ports import Presence
from emu.reply_codes import LoginCode, PlayCode
from emu.session import AddressChanged, Event, Message, SessionClosed, Writable
from emu.times import Clock, Moment, Monotonic
from emu.world.actors.client import PlayerClient, PlayerLink
from emu.world.actors.holdings import Loaded
from emu.world.actors.player import Player
from emu.world.entry.admission import WorldAdmissionRules
from emu.world.entry.leaving import LeaveReason

REQUEST_LAYOUTS = (1, 562, 1208)
"""Struct versions of the request; each has a length of its own, which identifies it."""
DENIAL_LAYOUT = 1
"""Struct version of every denial, whatever the client.

Source: docs/protocol/world/entering.md#login-reply.
"""


class ZoneEntryRefusal(enum.StrEnum):
    """Why a client cannot enter, as logs show it."""

    # Without a valid key: the session ends without a message.
    NO_SUCH_KEY = "no such key"
    NO_KEY_IN_TIME = "no key was shown in time"
    MALFORMED = "its login by number is malformed"
    UNKNOWN_VERSION = "its client version is unknown"
    STORE_FAILED = "the store failed"
    TOO_MANY_MESSAGES = "too many messages waiting"
    SECOND_LOGIN = "a second login by number"
    # With a valid key: the client is sent a code of `DENIALS` first.
    CHARACTER_GONE = "the character is gone"
    ACCOUNT_IN_USE = "its account is playing already"
    BANNED = "it is banned"
    LOCKED = "the world is locked"
    FULL = "the world is full"
    NOT_ALLOWED = "it may not enter"
    VERSION_NOT_SERVED = "its client version is not served"
    NO_ZONE = "no zone can take it"


BY_PLAY_CODE = {
    PlayCode.CHARACTER_NOT_LOADED: ZoneEntryRefusal.CHARACTER_GONE,
    PlayCode.ACCOUNT_IN_USE: ZoneEntryRefusal.ACCOUNT_IN_USE,
    PlayCode.BANNED: ZoneEntryRefusal.BANNED,
    PlayCode.PROBLEM: ZoneEntryRefusal.LOCKED,
    PlayCode.WORLD_FULL: ZoneEntryRefusal.FULL,
}
"""The refusal for each code of the admission rules; other codes are `NOT_ALLOWED`."""
DENIALS = {
    ZoneEntryRefusal.ACCOUNT_IN_USE: LoginCode.ALREADY_PLAYING,
    ZoneEntryRefusal.BANNED: LoginCode.NO_PLAY_TIME,
    ZoneEntryRefusal.VERSION_NOT_SERVED: LoginCode.WRONG_VERSION,
}
"""Login reply codes that clients show as what they mean; other refusals are `UNKNOWN_REASON`."""
UNREAD = {
    MalformedMessage: ZoneEntryRefusal.MALFORMED,
    UnknownVersion: ZoneEntryRefusal.UNKNOWN_VERSION,
    StoreError: ZoneEntryRefusal.STORE_FAILED,
}
"""The refusal for each error between the request and the admission rules."""
# A client sends a handful of messages meanwhile; the bound is for one that does not wait.
MOST_WAITING = 64
"""Messages that may wait while the store is read."""
MOST_LOADS = 10
"""How often a character is read that other sessions change meanwhile."""
PATIENCE = 10.0
"""Seconds within which a session has to show its key."""


class EnteringLink(PlayerLink, Protocol):
    """The session of a client that enters."""

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine; what it raises ends the session."""


class WorldPort(Protocol):
    """The world that clients enter; `emu.world.service` implements it."""

    async def fetch(self, char_id: int) -> None:
        """Make another process give up and store a character that enters here."""

    async def place(self, character: WorldCharacter) -> None:
        """Place the zone of a character on a node before it enters; raises nothing."""

    def has_stored(self, account_id: int) -> bool:
        """Return whether the things of an account's characters that have left here are stored."""

    async def load(
        self, character: WorldCharacter, version: int, things: OwnedThings | None = None
    ) -> Loaded:
        """Load the things of a character that enters with a client. Raises `StoreError`.

        `things` are those of the character and its account if they were read already.
        """

    def is_current(self, character: WorldCharacter, loaded: Loaded, version: int) -> bool:
        """Return whether a character can enter with its row and what was loaded of it."""

    def enter(
        self,
        character: WorldCharacter,
        client: PlayerClient,
        now: Monotonic,
        loaded: Loaded,
        *,
        key: int = 0,
        hidden: bool = False,
        is_zoning: bool = False,
    ) -> Player:
        """Enter a client that has shown a key; with `hidden` its character is hidden.

        `is_zoning` is whether its key is that of a change of the zone.

        Raises `UnknownOpcode`, `UnknownStruct` and `NoSuchZone`.
        """

    def message(self, player: Player, opcode: int, payload: bytes, now: Monotonic) -> None:
        """Handle one application message of a player."""

    def drained(self, player: Player, link: PlayerLink, now: Monotonic) -> None:
        """Handle that the session of a player has capacity again, after it had none."""

    def closed(self, player: Player, link: PlayerLink, reason: str, now: Monotonic) -> None:
        """Handle the end of a player's session."""

    def send_away(self, player: Player, reason: str, now: Monotonic) -> None:
        """Take a player out of the world, link-dead or not."""


@dataclass(frozen=True, slots=True)
class CharacterEntered:
    """A character has entered."""

    name: str
    account_id: int
    char_id: int
    address: str
    version: int


@dataclass(frozen=True, slots=True)
class ZoneEntryRefused:
    """A client was refused; `detail` is the text of the error behind it, or empty."""

    address: str
    reason: ZoneEntryRefusal
    detail: str = ""

    @property
    def text(self) -> str:
        """The reason and its detail, for people."""
        return f"{self.reason}: {self.detail}" if self.detail else self.reason


@dataclass(frozen=True, slots=True)
class Left:
    """A character's session has ended."""

    name: str
    address: str
    reason: str


@dataclass(frozen=True, slots=True)
class MovedEntry:
    """The client of a character has another address; its session goes on there."""

    name: str
    before: str
    address: str
    port: int


ZoneEntryEvent = CharacterEntered | ZoneEntryRefused | Left | MovedEntry


async def _nobody_is_banned(_account_id: int, _address: str) -> bool:
    return False


async def _now() -> None:
    return


@dataclass(kw_only=True, eq=False)
class ZoneEntry:
    """What all entering clients share."""

    dialects: Dialects
    inside: WorldPort
    admission: WorldAdmissionRules
    presence: Presence
    claim: Callable[[int, int], Awaitable[Sequence[WorldCharacter]]]
    """Makes this process the holder of an account's character; returns the account's characters
    that are not deleted."""
    take: Callable[[int, int], Awaitable[UsedKey]] | None = None
    """Uses the key of an account, does what `claim` does for its character, and reads its things,
    with one call of the store; None where keys are in memory."""
    played: Callable[[int, Moment], Awaitable[None]]
    """Records that a character has entered; raises nothing."""
    report: Callable[[ZoneEntryEvent], None]
    changed: Callable[[], None]
    """Called when the number of players has changed."""
    clock: Clock
    is_kept_out: Callable[[int, str], Awaitable[bool]] = field(default=_nobody_is_banned)
    """Returns whether an account or an address is banned or disabled."""
    counters: Counter[str] = field(default_factory=Counter)
    take_turn: Callable[[], Awaitable[None]] = _now
    """Waits until a character may enter: one in each turn, so that a crowd keeps nobody waiting."""

    def connect(self, link: EnteringLink, address: str, now: Monotonic) -> EnteringClient:
        """Return the client of a new session; `address` is its IP address."""
        return EnteringClient(self, link, address, now)


class EnteringClient:
    """One client of the world, and the handler of its session's events.

    `closing` is to be called when the server closes the session.
    """

    __slots__ = (
        "_address", "_asked", "_deadline", "_entry", "_link", "_mailbox", "_over", "_player",
    )  # fmt: skip

    def __init__(self, entry: ZoneEntry, link: EnteringLink, address: str, now: Monotonic) -> None:
        self._entry = entry
        self._link = link
        self._address = address
        self._mailbox = Mailbox(link.start, MOST_WAITING)
        self._asked = False
        self._over = False
        self._player: Player | None = None
        self._deadline: Monotonic | None = Monotonic(now + PATIENCE)

    def handle_event(self, event: Event, now: Monotonic) -> None:
        """Handle one event of the session."""
        if isinstance(event, Message):
            try:
                self.message(event.opcode, event.payload, now)
            except Exception:
                self.closing()  # the dispatcher ends the session
                raise
        elif isinstance(event, Writable):
            self.drained(now)
        elif isinstance(event, SessionClosed):
            self.closed(event.reason, now)
        elif isinstance(event, AddressChanged):
            self._moved(event)

    def message(self, opcode: int, payload: bytes, now: Monotonic) -> None:
        """Handle one application message after those that came before."""
        if self._over:
            return
        # The usual message needs no queue. While something waits, later messages must not overtake
        # it.
        if self._player is not None and not self._mailbox.tasks:
            self._forward(self._player, opcode, payload, now)
        elif not self._mailbox.put(partial(self._take, opcode, payload)):
            self._refuse(ZoneEntryRefusal.TOO_MANY_MESSAGES)

    async def _take(self, opcode: int, payload: bytes) -> None:
        """Handle a message; before the key is shown, ignore every other message."""
        if self._over:
            return
        if self._player is not None:
            self._forward(self._player, opcode, payload, self._entry.clock.now())
        elif opcode == LOGIN_BY_NUMBER and not self._asked:
            # One attempt for each session: guessing keys costs a session each, and those are
            # limited for each host.
            self._asked = True
            await self._show_key(payload)
        else:
            self._entry.counters["unknown message"] += 1

    def _forward(self, player: Player, opcode: int, payload: bytes, now: Monotonic) -> None:
        if opcode == LOGIN_BY_NUMBER:
            self._refuse(ZoneEntryRefusal.SECOND_LOGIN)
        elif player.client.link is not self._link:
            # Messages of the old session may still arrive after the takeover; the new client plays
            # the character.
            self._entry.counters["message of a session that was taken over"] += 1
        else:
            self._entry.inside.message(player, opcode, payload, now)

    def drained(self, now: Monotonic) -> None:
        """Handle that the session has capacity again, after it had none."""
        if self._player is not None and not self._over:
            self._entry.inside.drained(self._player, self._link, now)

    def _moved(self, event: AddressChanged) -> None:
        """Handle that the client has another address; a banned one is sent away."""
        address, port = cast("tuple[str, int]", event.now)
        before, self._address = self._address, address
        player = self._player
        if player is None or self._over or player.client.link is not self._link:
            return
        player.client.address = address
        self._entry.report(MovedEntry(player.name, before, address, port))
        # Every change of the host, not at the next review: a ban would be evaded that long.
        if address != before:
            self._link.start(self._review(player, address))

    async def _review(self, player: Player, address: str) -> None:
        """Send a player away whose new address is banned."""
        entry = self._entry
        try:
            is_kept_out = await entry.is_kept_out(player.character.account_id, address)
        except StoreError:
            return  # the next review of all players asks again
        if is_kept_out and player is self._player and not self._over:
            entry.inside.send_away(player, LeaveReason.KEPT_OUT, entry.clock.now())

    def closing(self) -> None:
        """Handle that the server closes the session, which lasts until the client has answered.

        No client plays the character from now on.
        """
        if self._player is not None and not self._over:
            now = self._entry.clock.now()
            self._entry.inside.closed(self._player, self._link, LeaveReason.CLOSED_BY_SERVER, now)

    def closed(self, reason: str, now: Monotonic) -> None:
        """Handle the end of the session."""
        if self._over:
            return
        self._over = True
        self._mailbox.clear()
        self._deadline = None
        player, self._player = self._player, None
        if player is None:
            return
        try:
            self._entry.inside.closed(player, self._link, reason, now)
        except Exception:
            # Otherwise the player would stand in the world for ever, with no session that could
            # end.
            self._entry.inside.send_away(player, reason, now)
            raise
        self._entry.report(Left(player.name, self._address, reason))

    def held_bytes(self) -> int:
        """Return how many bytes of messages wait: none, the world handles them at once."""
        return 0

    def get_timer(self) -> Monotonic | None:
        """Return when to call `handle_timer`."""
        return self._deadline

    def handle_timer(self, now: Monotonic) -> None:
        """Refuse a client that has not shown its key in time."""
        if self._deadline is not None and now >= self._deadline:
            self._deadline = None
            self._refuse(ZoneEntryRefusal.NO_KEY_IN_TIME)

    async def _show_key(self, payload: bytes) -> None:
        try:
            account_id, key, version = self._read(payload)
            dialect = self._entry.dialects.for_version(version)
            (handoff, characters, things), is_kept_out, was_in = await self._redeemed(
                account_id, key
            )
            if handoff is None:
                self._refuse(ZoneEntryRefusal.NO_SUCH_KEY)
                return
        except (MalformedMessage, UnknownVersion, StoreError) as error:
            self._refuse(_refusal_of(error), str(error))
            return
        if self._over:  # the session has ended while this coroutine waited
            return
        code = self._entry.admission.on_entry(
            characters, handoff.char_id, is_zoning=handoff.is_zoning or was_in
        )
        # After `on_entry`, because a ban wins over every other reason.
        if is_kept_out:
            code = PlayCode.BANNED
        client = PlayerClient(dialect, self._link, self._address)
        if code != PlayCode.SUCCESS:
            self._deny(client, BY_PLAY_CODE.get(code, ZoneEntryRefusal.NOT_ALLOWED))
            return
        # `on_entry` has found it, so it is in the list.
        character = next(row for row in characters if row.id == handoff.char_id)
        await self._entry.inside.place(character)
        try:
            loaded = await self._entry.inside.load(character, version, things)
            await self._entry.take_turn()
            character, loaded = await self._newest(character, loaded, version)
        except StoreError as error:
            # Without its things it would come in with empty bags.
            self._refuse(_refusal_of(error), str(error))
            return
        if not self._over and self._is_entered(handoff, character, loaded, client, key):
            await self._entry.played(handoff.char_id, self._entry.clock.moment())

    async def _newest(
        self, character: WorldCharacter, loaded: Loaded, version: int
    ) -> tuple[WorldCharacter, Loaded]:
        """Return a character and what was loaded of it, read again if another session changed it.

        Raises `StoreError`.
        """
        inside, was_hidden = self._entry.inside, loaded.was_hidden
        for _ in range(MOST_LOADS):
            if self._over or inside.is_current(character, loaded, version):
                loaded.was_hidden = was_hidden
                return character, loaded
            rows = await self._entry.claim(character.account_id, character.id)
            character = next((row for row in rows if row.id == character.id), character)
            loaded = await inside.load(character, version)
            was_hidden = was_hidden or loaded.was_hidden
        raise StoreError("other sessions of this character came and left all the time")

    async def _redeemed(self, account_id: int, key: int) -> tuple[UsedKey, bool, bool]:
        """Use a key, and make this process the holder of its character.

        Returns what the key has led to, whether account or address is banned, and whether the
        character was in the world.
        """
        entry = self._entry
        # Whether it is banned is asked here although the login server asks, too: a ban may have
        # come after the key was issued.
        if entry.take is not None and not self._is_in(account_id):
            # Nothing has to be fetched, whichever of its characters the account enters with.
            # What another character of the account has left in their shared bank may be stored
            # after the things are read; then they are read later.
            is_settled = entry.inside.has_stored(account_id)
            used, is_kept_out = await both(
                entry.take(account_id, key), entry.is_kept_out(account_id, self._address)
            )
            handoff = used.handoff
            self._deadline = None if handoff else self._deadline
            was_in = handoff is not None and entry.presence.find(handoff.char_id) is not None
            return used if is_settled else used._replace(things=None), is_kept_out, was_in
        # The key is taken back first, so that two sessions cannot use it.
        handoff = await entry.admission.redeem(account_id, key)
        if handoff is None:
            return UsedKey(None), False, False
        self._deadline = None
        is_kept_out, (was_in, characters) = await both(
            entry.is_kept_out(account_id, self._address), self._claimed(handoff)
        )
        return UsedKey(handoff, characters), is_kept_out, was_in

    def _is_in(self, account_id: int) -> bool:
        """Return whether a character of an account is in the world, in this process or another."""
        return bool(self._entry.presence.of_account(account_id))

    async def _claimed(self, handoff: Handoff) -> tuple[bool, Sequence[WorldCharacter]]:
        """Make this process the holder of a character.

        Returns whether it was in the world, and the characters of its account.
        """
        # Read before `fetch`, which removes the character from its process.
        was_in = self._entry.presence.find(handoff.char_id) is not None
        # A process that sends its player to another one has stored it before: only the note that
        # it has left may be late.
        if not handoff.is_zoning:
            await self._entry.inside.fetch(handoff.char_id)
        # After `fetch`, which stores the newest state of the character: from now on, saves of its
        # earlier holder are refused.
        return was_in, await self._entry.claim(handoff.account_id, handoff.char_id)

    def _read(self, payload: bytes) -> tuple[int, int, int]:
        """Return account id, key and version of a request.

        Its length says which layout it has, unless a known version is where the first one has it.
        """
        dialects = self._entry.dialects
        first, *_ = layouts = [
            dialects.catalog.layout("LoginByNumRequest", version) for version in REQUEST_LAYOUTS
        ]
        if len(payload) > (size := first.empty_size()):
            fields = first.decode(payload[:size])
            if dialects.knows(fields["version"]):
                return fields["account_id"], fields["access_code"], fields["version"]
        for layout in layouts:
            # The version is a field inside of the message, so it cannot select the layout.
            if layout.empty_size() == len(payload):
                fields = layout.decode(payload)
                return fields["account_id"], fields["access_code"], fields["version"]
        raise MalformedMessage("no known layout has its length")

    def _is_entered(
        self, handoff: Handoff, character: WorldCharacter, loaded: Loaded, client: PlayerClient,
        key: int,
    ) -> bool:  # fmt: skip
        """Enter a character, or deny it with the reason; return whether it has entered."""
        try:
            self._enter(handoff, character, loaded, client, key)
        except (UnknownOpcode, UnknownStruct) as error:
            detail = f"client version {client.version}: {error}"
            self._deny(client, ZoneEntryRefusal.VERSION_NOT_SERVED, detail)
            return False
        except EmuError as error:
            self._deny(client, ZoneEntryRefusal.NO_ZONE, str(error))
            return False
        return True

    def _enter(
        self,
        handoff: Handoff,
        character: WorldCharacter,
        loaded: Loaded,
        client: PlayerClient,
        key: int,
    ) -> None:
        now = self._entry.clock.now()
        # Only now: until the key was found valid, the session had the small limits of
        # unauthenticated peers.
        self._link.trust()
        self._link.charge_to(handoff.account_id)
        player = self._player = self._entry.inside.enter(
            character, client, now, loaded, key=key, hidden=handoff.hidden,
            is_zoning=handoff.is_zoning,
        )  # fmt: skip
        entry = self._entry
        entry.presence.entered(
            player.present,
            lambda: entry.inside.send_away(player, LeaveReason.SENT_AWAY, entry.clock.now()),
        )
        self._entry.changed()
        self._entry.report(
            CharacterEntered(
                handoff.name, handoff.account_id, handoff.char_id, self._address, client.version
            )
        )  # fmt: skip

    def _deny(self, client: PlayerClient, reason: ZoneEntryRefusal, detail: str = "") -> None:
        """Send a client with a valid key the reason of its refusal, and close the session."""
        code = DENIALS.get(reason, LoginCode.UNKNOWN_REASON)
        layout = self._entry.dialects.catalog.layout("LS_LoginResponse", DENIAL_LAYOUT)
        values = {"reply_code": code, "unknown03": -1, "unknown04": -1}
        client.send_bytes("OP_LoginReplyMsg", layout.encode(values))
        self._refuse(reason, detail)

    def _refuse(self, reason: ZoneEntryRefusal, detail: str = "") -> None:
        self._over = self._player is None
        self._deadline = None
        self._mailbox.clear()
        self._entry.counters["turned away"] += 1
        self._entry.report(ZoneEntryRefused(self._address, reason, detail))
        self._link.close()


def _refusal_of(error: EmuError) -> ZoneEntryRefusal:
    return next(reason for kind, reason in UNREAD.items() if isinstance(error, kind))
