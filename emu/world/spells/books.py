"""Spell books: the messages about them, and how players gain spells.

Source: docs/guides/spells.md#gaining, docs/protocol/world/fights.md#books.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from emu.dialects import Dialect, world_rules
from emu.errors import UnknownStruct
from emu.items.kinds import Scroll
from emu.model import SPELL_KEY, Hotkey, SavedKind, WorldCharacter
from emu.spells.kinds import ClassLevel, SpellBook, SpellKind
from emu.structs.packed import pack_counted, xor
from emu.times import UNKNOWN
from emu.world.actors.past import Past
from emu.world.actors.player import IN_ZONE, ClientSession, Player
from emu.world.events import (
    ClassChanged,
    Entered,
    LeftWorld,
    LevelGained,
    Order,
    SpellLearned,
    TenthGained,
)
from emu.world.item_events import CraftingChanged, ItemScribed, ScrollCarried
from emu.world.knowledge import class_line
from emu.world.spells.core import SpellCore
from emu.world.spells.living import HOLDING
from emu.world.spells.states import milliseconds

MESSAGE: Final = "OP_UpdateSpellBookMsg"
STRUCT: Final = "WS_UpdateSpellBook"
HEAD: Final = 6
"""Bytes of the count and the length in front of the records."""
LOCKED, USABLE, WAITING = 169, 235, 4
"""Status of a spell; `WAITING` is added while it waits for the end of another cast."""
NO_CHARGES: Final = 255
OLD_ICONS: Final = {772: 231, 773: 33, 774: 56, 775: 55, 776: 46, 777: 125, 778: 167}
"""Icons that clients up to 561 have under other numbers."""
_U16, _U32 = 0xFFFF, 0xFFFFFFFF
_SIGN: Final = 0x8000
TENTHS: Final = 10
LARGEST_TIER: Final = 255
"""Messages have a tier in one byte; the content's go to 10."""


class _Sent(NamedTuple):
    """The book that a client has."""

    session: ClientSession
    rows: int
    records: bytes


class Record(NamedTuple):
    """A spell of a book as a client is shown it."""

    kind: SpellKind
    tier: int
    ready_at: float = 0.0
    """The second at which it can be cast again; a past one for now."""
    recast: float = 0.0
    status: int = USABLE


def icon_of(kind: SpellKind, version: int) -> int:
    """Return the icon of a spell as clients of a version number it."""
    return OLD_ICONS.get(kind.icon, kind.icon) if world_rules(version).older_windows else kind.icon


def record_fields(record: Record, version: int) -> dict[str, Any]:
    """Return the fields of a record; `status` says whether it is locked."""
    kind = record.kind
    is_waiting = record.ready_at > 0
    tier = kind.tier(record.tier)
    return {
        "spell_id": kind.id,
        "unique_id": -(record.tier + 1) & _U32,
        "recast_available": milliseconds(record.ready_at) if is_waiting else 0,
        "type": int(kind.book),
        "target_type": int(kind.target),
        "recast_time": min(_U16, round(record.recast * TENTHS)) if is_waiting else 0,
        "icon": _signed(-icon_of(kind, version) - 1),
        "icon_type": kind.backdrop & _U16,
        "icon2": kind.heroic_icon & _U16,
        "charges": NO_CHARGES,
        "distance": min(_U16, int(tier.range)) if tier is not None else 0,
        "status": record.status,
    }


def _signed(value: int) -> int:
    return (value + _SIGN) % (2 * _SIGN) - _SIGN


def encode(dialect: Dialect, records: Iterable[Record]) -> tuple[int, bytes]:
    """Return how many records there are, and their bytes. Raises `UnknownStruct`."""
    rows = [record_fields(one, dialect.version) for one in records]
    whole = dialect.encode_known(STRUCT, {"spell_count": len(rows), "spell_array": rows})
    return len(rows), whole[HEAD:]


class SpellBooks:
    """The books of the players of one world."""

    def __init__(
        self,
        core: SpellCore,
        *,
        is_classic: Callable[[], bool],
        in_thread: Callable[[Callable[[], Any]], Awaitable[Any]],
    ) -> None:
        """Subscribe to what changes books. `is_classic` returns which levels count."""
        self._in_thread = in_thread
        world = self._world = core.world
        self._kinds = core.kinds
        self._states = core.states
        self._is_classic = is_classic
        self._now = world.clock.now
        self._sent: dict[int, _Sent] = {}
        self._crafting: set[int] = set()
        """The players who make something now: nobody else can use the arts of crafting."""
        # Who is mesmerized or stunned can cast nothing (EQ2Emulator locks the book).
        core.states.held.append(self.send)
        subscribe = world.events.subscribe
        subscribe(Entered, self._entered)
        subscribe(LevelGained, lambda event: self.gain(event.player))
        subscribe(TenthGained, lambda event: self.gain(event.player))
        subscribe(ClassChanged, lambda event: self.gain(event.player))
        subscribe(ItemScribed, self._scribed)
        subscribe(ScrollCarried, self._carried)
        subscribe(CraftingChanged, self._crafting_changed)
        subscribe(SpellLearned, self._learned, Order.OWNER)
        subscribe(LeftWorld, lambda event: self._sent.pop(event.player.id, None))

    async def fetch(self, character: WorldCharacter) -> None:
        """Read the spells that a character has or gains at its entry, before it stands there."""
        known = Past(character.past).spells if character.past else {}

        # A new character is shown its hotkeys before it stands there.
        is_new = character.last_played == UNKNOWN
        needed = {*known, *(_spells_of(self._beginning(character)) if is_new else ())}

        def prepare() -> None:
            self._kinds.prepare(needed)
            self._kinds.load(self._due(character, known))

        # What is due is asked second: before the tables are read, that would read them here.
        if self._kinds.lacks(needed) or self._kinds.lacks(self._due(character, known)):
            await self._in_thread(prepare)

    def first_hotkeys(self, character: WorldCharacter) -> tuple[Hotkey, ...]:
        """Return the hotkeys of a new character; spells of this world have their icon and tier 1.

        EQ2Emulator shows spells so that the character does not have, and leaves icon and tier of a
        spell that is not active 0 (real-entry-1208-start-fighter-priest).
        """
        keys = self._beginning(character)
        kinds = self._kinds.load(_spells_of(keys))
        return tuple(
            _with_icon(key, kinds.get(key.ability)) if key.type == SPELL_KEY else key
            for key in keys
        )

    def _beginning(self, character: WorldCharacter) -> list[Hotkey]:
        return self._world.knowledge.beginners.hotkeys(character)

    # -- messages ---------------------------------------------------------------------------------

    def records(self, player: Player) -> list[Record]:
        """Return what a player's client is shown: all but hidden spells, in the book's order."""
        known = player.past.spells
        kinds = self._kinds.load(known)
        state = self._states.get(player.spawn)
        now, ready = self._now(), state.ready if state is not None else {}
        is_locked = state is not None and (
            state.casting is not None or not state.controls.isdisjoint(HOLDING)
        )
        waiting = state.waiting.kind.id if state is not None and state.waiting is not None else 0
        found = []
        for number, tier in known.items():
            kind = kinds.get(number)
            if kind is None or kind.book is SpellBook.HIDDEN or not kind.is_active:
                continue
            at = max(ready.get(number, 0.0), ready.get(-kind.linked_timer or number, 0.0))
            is_ready = at <= now
            # Recorded (real-entry-*, items-*): arts of crafting are locked.
            is_out = self.is_out_of_use(player, kind)
            status = USABLE if is_ready and not (is_locked or is_out) else LOCKED
            of_tier = kind.tier(tier)
            found.append(
                Record(
                    kind, tier, 0.0 if is_ready else at,
                    0.0 if of_tier is None else of_tier.recast,
                    status + (WAITING if number == waiting else 0),
                )
            )  # fmt: skip
        return found

    def is_out_of_use(self, player: Player, kind: SpellKind) -> bool:
        """Return whether a spell is an art of crafting of somebody who makes nothing now."""
        return kind.book is SpellBook.TRADESKILL and player.id not in self._crafting

    def send_first(self, player: Player) -> None:
        """Send a player whose ghost appears its book; all is locked until its avatar stands.

        So it is recorded in real-entry-*, and that a new character has its spells then, without a
        message for each. A version without a layout gets an empty book.
        """
        for kind, tier in self._due_kinds(player):
            self._learn(player, kind, tier)
        dialect = player.client.dialect
        locked = [one._replace(status=LOCKED) for one in self.records(player)]
        try:
            count, fresh = encode(dialect, locked)
        except UnknownStruct:
            count, fresh = 0, b""
        self._sent[player.id] = _Sent(player.session, count, fresh)
        player.client.send_bytes(MESSAGE, pack_counted(count, fresh, b"", dialect.version))

    def send(self, player: Player) -> None:
        """Send a player its book, or what has changed of it; nothing if nothing has."""
        if player.state not in IN_ZONE:
            return
        dialect = player.client.dialect
        try:
            count, fresh = encode(dialect, self.records(player))
        except UnknownStruct:
            return
        sent = self._sent.get(player.id)
        if sent is None or sent.session is not player.session:
            sent = _Sent(player.session, 0, b"")
        if sent.records == fresh:
            return
        if len(fresh) < len(sent.records):
            # It is unknown whether records that are gone stay the base of later ones, as those of
            # the skill book do, or zeros, as in lists of things. Empty records are both.
            sent = self._send(player, sent, sent.rows, fresh.ljust(len(sent.records), b"\0"))
        self._send(player, sent, count, fresh)

    def _send(self, player: Player, sent: _Sent, count: int, records: bytes) -> _Sent:
        """Send so many records to a client that has what was sent; return what it has then."""
        now = self._sent[player.id] = _Sent(player.session, count, records)
        delta = xor(records, sent.records[: len(records)].ljust(len(records), b"\0"))
        version = player.client.dialect.version
        player.client.send_bytes(MESSAGE, pack_counted(count, delta, b"", version))
        return now

    def _entered(self, event: Entered) -> None:
        self.send(event.player)

    def _crafting_changed(self, event: CraftingChanged) -> None:
        self._crafting.discard(event.player.id)
        if event.is_begun:
            self._crafting.add(event.player.id)
        self.send(event.player)

    # -- gaining ----------------------------------------------------------------------------------

    def gain(self, player: Player) -> None:
        """Give a player the spells of its classes up to its level, and those of beginners."""
        due = self._due_kinds(player)
        for kind, tier in due:
            self._put(player, kind, tier)
        if due:
            self.send(player)

    def _due_kinds(self, player: Player) -> list[tuple[SpellKind, int]]:
        due = self._due(player.character, player.past.spells)
        kinds = self._kinds.load(due)
        return [(kinds[number], tier) for number, tier in due.items() if number in kinds]

    def _due(self, character: WorldCharacter, known: Mapping[int, int]) -> dict[int, int]:
        """Return the tiers of the spells that a character should have and has not, by number."""
        position = character.level + _share(character)
        is_classic = self._is_classic()
        due: dict[int, int] = {}
        learned = self._kinds.learned(sorted(class_line(character.class_)))
        levels = {one.spell_id: float(one.level) for one in learned}
        for one in self._kinds.starting(character.class_, character.race):
            # A new guardian has them all (recorded in real-entry-1208-start-fighter-priest). Who
            # changes the class gets those that the class learns later at their levels.
            is_early = bool(known) and levels.get(one.spell_id, 0.0) > position
            if known.get(one.spell_id, 0) < one.tier and not is_early:
                due[one.spell_id] = max(one.tier, due.get(one.spell_id, 0))
        for row in learned:
            needed = float(row.level)
            if is_classic and row.classic_level > 0:
                needed = row.classic_level
            if needed <= position and row.spell_id not in known:
                due.setdefault(row.spell_id, 1)
        return due

    def learn(
        self, player: Player, spell_id: int, tier: int = 1, *, is_quiet: bool = False
    ) -> bool:
        """Put a spell into a player's book, or raise its tier; return whether that changed it."""
        kind = self._kinds.get(spell_id)
        if kind is None or not self._put(player, kind, tier, is_quiet=is_quiet):
            return False
        self.send(player)
        return True

    def _learn(self, player: Player, kind: SpellKind, tier: int) -> bool:
        past, tier = player.past, max(1, min(tier, LARGEST_TIER))
        # A new spell begins at tier 1; further calls raise it.
        changed = past.learn(kind.id, tier)
        changed = (tier > 1 and past.learn(kind.id, tier)) or changed
        if changed:
            self._world.saves.changed(player, SavedKind.PAST, self._now())
        return changed

    def _put(self, player: Player, kind: SpellKind, tier: int, *, is_quiet: bool = False) -> bool:
        changed = self._learn(player, kind, tier)
        if changed:
            self._world.events.publish(
                SpellLearned(player, spell_id=kind.id, tier=tier, is_quiet=is_quiet)
            )
        return changed

    def add_entry(
        self, player: Player, spell_id: int, tier: int, *, is_quiet: bool, has_hotkey: bool
    ) -> None:  # fmt: skip
        """Put a spell into a player's book as scripts do: a new one begins at tier 1.

        One that nothing describes is only stored.
        """
        if not player.past.learn(spell_id, tier):
            return
        self._world.saves.changed(player, SavedKind.PAST, self._now())
        if self._kinds.get(spell_id) is not None:
            learned = SpellLearned(
                player, spell_id=spell_id, tier=player.past.spell_tier(spell_id),
                is_quiet=is_quiet, has_hotkey=has_hotkey,
            )  # fmt: skip
            self._world.events.publish(learned)
            self.send(player)

    def _scribed(self, event: ItemScribed) -> None:
        """Let a player learn what a scroll teaches; a higher tier takes the place of a lower."""
        scroll = event.kind.part
        if not isinstance(scroll, Scroll):
            return
        player = event.player
        if self._teaches(player, scroll) and self.learn(player, scroll.spell_id, scroll.tier):
            event.answers.append(True)

    def _teaches(self, player: Player, scroll: Scroll) -> bool:
        """Return whether a player can learn from a scroll now."""
        kind = self._kinds.get(scroll.spell_id)
        if kind is None or not kind.is_active or kind.tier(scroll.tier) is None:
            return False
        level = self.level_in(player, kind)
        position = player.character.level + _share(player.character)
        if level is None or level > position:
            return False
        return player.past.spell_tier(kind.id) < scroll.tier

    def _carried(self, event: ScrollCarried) -> None:
        event.answers.append(self._teaches(event.player, event.scroll))

    def unlearn(self, player: Player, spell_id: int) -> bool:
        """Take a spell out of a player's book; return whether it was there."""
        if not player.past.unlearn(spell_id):
            return False
        self._world.saves.changed(player, SavedKind.PAST, self._now())
        self.send(player)
        return True

    def clear(self, player: Player, books: Container[SpellBook] = tuple(SpellBook)) -> None:
        """Take all spells out of a player's book, or those of some parts of it."""
        kinds = self._kinds.load(player.past.spells)
        for number in list(player.past.spells):
            kind = kinds.get(number)
            if kind is None or kind.book in books:
                player.past.unlearn(number)
        self._world.saves.changed(player, SavedKind.PAST, self._now())
        self.send(player)

    def _learned(self, event: SpellLearned) -> None:
        """Show a player that its book has a new spell."""
        kind = self._kinds.get(event.spell_id)
        player = event.player
        if kind is None or player.state not in IN_ZONE:
            return
        # EQ2Emulator sends it for hidden spells as well (real-fight-546-QueensColony-fighter).
        fields = gained_fields(kind, event.tier, event.is_quiet, has_hotkey=event.has_hotkey)
        player.client.send("WS_SpellGainedMsg", fields)

    def level_of(self, learned: ClassLevel) -> float:
        """Return the level from which a class has a spell, as this world counts levels."""
        return learned.level_needed(is_classic=self._is_classic())

    def level_in(self, player: Player, kind: SpellKind) -> float | None:
        """Return the level from which a player's class has a spell; None if it never has."""
        classes = tuple(class_line(player.character.class_))
        return kind.level_for(classes, is_classic=self._is_classic())


def _spells_of(keys: Iterable[Hotkey]) -> list[int]:
    return [key.ability for key in keys if key.type == SPELL_KEY]


def _with_icon(key: Hotkey, kind: SpellKind | None) -> Hotkey:
    """Return the hotkey of a spell with its icon, unless the row has one or nobody can cast it."""
    if kind is None or not kind.is_active or kind.tier(1) is None or key.icon or key.tier:
        return key
    return replace(key, icon=kind.icon & _U16, icon_type=kind.backdrop & _U16, tier=1)


def _share(character: WorldCharacter) -> float:
    """Return how much of its level a character has behind it."""
    needed = character.experience_needed
    return min(0.99, character.experience / needed) if needed > 0 else 0.0


def gained_fields(
    kind: SpellKind, tier: int, is_quiet: bool, *, has_hotkey: bool = True
) -> dict[str, Any]:  # fmt: skip
    """Return the fields of the message about a new spell."""
    has_hotkey = has_hotkey and not is_quiet and kind.book is not SpellBook.HIDDEN
    return {
        "spell_type": int(kind.book),
        "spell_id": kind.id,
        "unique_id": kind.crc & _U32,
        "spell_name": kind.name,
        "add_silently": int(is_quiet),
        "add_to_hotbar": int(has_hotkey),
        "display_spell_tier": tier,
        "tier": tier,
        "icon": kind.icon & _U16,
        "icon_type": kind.backdrop & _U16,
        "unknown3": 1,
        "unknown5": _U32,
    }
