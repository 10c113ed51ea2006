"""The world's door: a client shows its hand-off key and is let in, or its session ends.

Owns one client's state at the door. What happens behind it (zones, spawns, chat) is `WorldPort`'s.
Knows no socket; `EnteringLink` is what the shell provides. Source: docs/protocol/world/entering.md,
docs/protocol/world/entering.md#door (a wrong key gets no message, only the end of the session).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from emu.dialects import Dialects
from emu.dialects.dialect import LOGIN_BY_NUMBER
from emu.errors import EmuError, MalformedMessage, StoreError, UnknownStruct, UnknownVersion
from emu.mailbox import Mailbox
from emu.model import Handoff, LoginCode, PlayCode, WorldCharacter
from emu.processes.ports import Presence
from emu.times import Clock, Moment, Monotonic
from emu.world.actors.client import PlayerClient, PlayerLink
from emu.world.actors.player import Player
from emu.world.entry.admission import WorldAdmissionRules

REQUEST_LAYOUTS = (1, 562, 1208)
"""Struct versions of the request; each has a length of its own, and that tells them apart."""
DENIAL_LAYOUT = 1
"""Struct version of every denial, whatever the client.

Source: docs/protocol/world/entering.md#login-reply.
"""
REFUSED = (LoginCode.UNKNOWN_REASON, "it may not come in")
REFUSALS = {
    PlayCode.CHARACTER_NOT_LOADED: (LoginCode.UNKNOWN_REASON, "the character is gone"),
    PlayCode.ACCOUNT_IN_USE: (LoginCode.ALREADY_PLAYING, "its account is playing already"),
    PlayCode.BANNED: (LoginCode.NO_PLAY_TIME, "it is banned"),
    PlayCode.PROBLEM: (LoginCode.UNKNOWN_REASON, "the world is locked"),
    PlayCode.WORLD_FULL: (LoginCode.UNKNOWN_REASON, "the world is full"),
}
"""Login reply code for each play reply code, and the log's words."""
MOST_WAITING = 64
"""Messages that may wait while the store is asked about a client."""
PATIENCE = 10.0
"""Seconds a session may stand without having shown a key."""


class EnteringLink(PlayerLink, Protocol):
    """What an entrant needs of its session."""

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine to its end; the session ends with what it raises."""


class WorldPort(Protocol):
    """The world behind the door; `emu.world.service` is it."""

    async def fetch(self, char_id: int) -> None:
        """Have another process give up a character, stored, that is to come in here."""

    def enter(
        self,
        character: WorldCharacter,
        client: PlayerClient,
        now: Monotonic,
        *,
        key: int = 0,
        hidden: bool = False,
    ) -> Player:
        """Let a client in that has shown a key; with `hidden` the character comes in hidden.

        Raises `UnknownVersion`, `UnknownStruct` and `NoSuchZone`.
        """

    def message(self, player: Player, opcode: int, payload: bytes, now: Monotonic) -> None:
        """Take one application message of somebody who is in."""

    def drained(self, player: Player, link: PlayerLink, now: Monotonic) -> None:
        """Learn that the session of somebody who is in has room again, after it had none."""

    def closed(self, player: Player, link: PlayerLink, reason: str, now: Monotonic) -> None:
        """Learn that the session of somebody who is in is over."""

    def send_away(self, player: Player, reason: str, now: Monotonic) -> None:
        """Take somebody out of the world, with a client or without."""


@dataclass(frozen=True, slots=True)
class Entered:
    """A character came in."""

    name: str
    account_id: int
    char_id: int
    address: str
    version: int


@dataclass(frozen=True, slots=True)
class ZoneEntryRefused:
    """Somebody was not let in."""

    address: str
    reason: str


@dataclass(frozen=True, slots=True)
class Left:
    """A character's session is over."""

    name: str
    address: str
    reason: str


ZoneEntryEvent = Entered | ZoneEntryRefused | Left


async def _nobody_is_kept_out(_account_id: int, _address: str) -> bool:
    return False


@dataclass(kw_only=True, eq=False)
class ZoneEntry:
    """What all clients at the door share."""

    dialects: Dialects
    inside: WorldPort
    admission: WorldAdmissionRules
    presence: Presence
    characters_of: Callable[[int], Awaitable[Sequence[WorldCharacter]]]
    """Returns an account's characters that are not deleted."""
    played: Callable[[int, Moment], Awaitable[None]]
    """Notes that a character came in, and raises nothing."""
    report: Callable[[ZoneEntryEvent], None]
    changed: Callable[[], None]
    """Is called when somebody came or went."""
    clock: Clock
    is_kept_out: Callable[[int, str], Awaitable[bool]] = field(default=_nobody_is_kept_out)
    """Says of an account and an address whether a ban or the like keeps it out."""
    counters: Counter[str] = field(default_factory=Counter)

    def connect(self, link: EnteringLink, address: str, now: Monotonic) -> EnteringClient:
        """Take a new session; `address` is the client's IP address."""
        return EnteringClient(self, link, address, now)


class EnteringClient:
    """One client of the world. The shell calls its public methods."""

    __slots__ = (
        "_address", "_asked", "_deadline", "_door", "_link", "_mailbox", "_over", "_player",
    )  # fmt: skip

    def __init__(self, door: ZoneEntry, link: EnteringLink, address: str, now: Monotonic) -> None:
        self._door = door
        self._link = link
        self._address = address
        self._mailbox = Mailbox(link.start, MOST_WAITING)
        self._asked = False
        self._over = False
        self._player: Player | None = None
        self._deadline: Monotonic | None = Monotonic(now + PATIENCE)

    def message(self, opcode: int, payload: bytes, now: Monotonic) -> None:
        """Take one application message; it waits for those that came before."""
        if self._over:
            return
        if self._player is not None and not self._mailbox:
            self._hand_on(self._player, opcode, payload, now)
        elif not self._mailbox.put(partial(self._take, opcode, payload)):
            self._turn_away("too many messages waiting")

    async def _take(self, opcode: int, payload: bytes) -> None:
        """Do what a message asks for; before the key was shown, only that one counts."""
        if self._over:
            return
        if self._player is not None:
            self._hand_on(self._player, opcode, payload, self._door.clock.now())
        elif opcode == LOGIN_BY_NUMBER and not self._asked:
            self._asked = True
            await self._show_key(payload)
        else:
            self._door.counters["unknown message"] += 1

    def _hand_on(self, player: Player, opcode: int, payload: bytes, now: Monotonic) -> None:
        if opcode == LOGIN_BY_NUMBER:
            self._turn_away("a second login by number")
        elif player.client.link is not self._link:
            self._door.counters["message of a session that was taken over"] += 1
        else:
            self._door.inside.message(player, opcode, payload, now)

    def drained(self, now: Monotonic) -> None:
        """Learn that the session has room again, after it had none."""
        if self._player is not None and not self._over:
            self._door.inside.drained(self._player, self._link, now)

    def closing(self) -> None:
        """Learn that our side ends the session, which takes until the client has answered.

        Whoever is in the world is played by nobody from now on.
        """
        if self._player is not None and not self._over:
            now = self._door.clock.now()
            self._door.inside.closed(self._player, self._link, "ended by the server", now)

    def closed(self, reason: str, now: Monotonic) -> None:
        """Learn that the session is over."""
        if self._over:
            return
        self._over = True
        self._mailbox.clear()
        self._deadline = None
        player, self._player = self._player, None
        if player is None:
            return
        try:
            self._door.inside.closed(player, self._link, reason, now)
        except Exception:
            self._door.inside.send_away(player, reason, now)
            raise
        self._door.report(Left(player.name, self._address, reason))

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` wants to be called."""
        return self._deadline

    def handle_timer(self, now: Monotonic) -> None:
        """Send somebody away who has not shown a key in time."""
        if self._deadline is not None and now >= self._deadline:
            self._deadline = None
            self._turn_away("no key was shown in time")

    async def _show_key(self, payload: bytes) -> None:
        try:
            account_id, key, version = self._read(payload)
            dialect = self._door.dialects.for_version(version)
            handoff = await self._door.admission.redeem(account_id, key)
            if handoff is None:
                self._turn_away("no such key")
                return
            self._deadline = None
            is_kept_out = await self._door.is_kept_out(handoff.account_id, self._address)
            was_in = self._door.presence.find(handoff.char_id) is not None
            await self._door.inside.fetch(handoff.char_id)
            characters = await self._door.characters_of(handoff.account_id)
        except (MalformedMessage, UnknownVersion, StoreError) as error:
            self._turn_away(str(error))
            return
        if self._over:
            return
        code = self._door.admission.on_entry(
            characters, handoff.char_id, is_zoning=handoff.is_zoning or was_in
        )
        if is_kept_out:
            code = PlayCode.BANNED
        client = PlayerClient(dialect, self._link, self._address)
        if code != PlayCode.SUCCESS:
            self._deny(client, *REFUSALS.get(code, REFUSED))
            return
        character = next(row for row in characters if row.id == handoff.char_id)
        try:
            self._enter(handoff, character, client, key)
        except UnknownStruct as error:
            self._deny(client, LoginCode.WRONG_VERSION, f"client version {version}: {error}")
            return
        except EmuError as error:
            self._deny(client, REFUSED[0], str(error))
            return
        await self._door.played(handoff.char_id, self._door.clock.moment())

    def _read(self, payload: bytes) -> tuple[int, int, int]:
        """Return account id, key and version of a request; its length tells the layout."""
        for layout_version in REQUEST_LAYOUTS:
            layout = self._door.dialects.catalog.layout("LoginByNumRequest", layout_version)
            if layout.empty_size() == len(payload):
                fields = layout.decode(payload)
                return fields["account_id"], fields["access_code"], fields["version"]
        raise MalformedMessage("login by number of unknown length")

    def _enter(
        self,
        handoff: Handoff,
        character: WorldCharacter,
        client: PlayerClient,
        key: int,
    ) -> None:
        now = self._door.clock.now()
        self._link.trust()
        self._link.charge_to(handoff.account_id)
        player = self._player = self._door.inside.enter(
            character, client, now, key=key, hidden=handoff.hidden
        )
        door = self._door
        door.presence.entered(
            player.present,
            lambda: door.inside.send_away(player, "sent away", door.clock.now()),
        )
        self._door.changed()
        self._door.report(
            Entered(
                handoff.name, handoff.account_id, handoff.char_id, self._address, client.version
            )
        )  # fmt: skip

    def _deny(self, client: PlayerClient, told: LoginCode, reason: str) -> None:
        """Tell somebody whose key was good why it lets nobody in, and end the session."""
        layout = self._door.dialects.catalog.layout("LS_LoginResponse", DENIAL_LAYOUT)
        values = {"reply_code": told, "unknown03": -1, "unknown04": -1}
        client.send_bytes("OP_LoginReplyMsg", layout.encode(values))
        self._turn_away(reason)

    def _turn_away(self, reason: str) -> None:
        self._over = self._player is None
        self._deadline = None
        self._mailbox.clear()
        self._door.counters["turned away"] += 1
        self._door.report(ZoneEntryRefused(self._address, reason))
        self._link.close()
