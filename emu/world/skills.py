"""Skills of players: their values, how they grow by use, and the book that clients have of them.

Source: docs/protocol/world/fights.md#skills.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from emu.dialects import Dialect
from emu.errors import UnknownStruct
from emu.model import KnownSkill, SavedKind
from emu.rules.skills import grows, most_at
from emu.structs.packed import pack_counted, xor
from emu.times import Monotonic
from emu.world.actors.player import IN_ZONE, Player
from emu.world.deadlines import Deadlines
from emu.world.events import LevelGained, Order, SkillGained, SkillsChanged, TradeLevelGained
from emu.world.knowledge import Knowledge, Skill
from emu.world.social.chat import Chat
from emu.world.world import World

SKILL_BOOK: Final = "WS_UpdateSkillBook"
BOOK_HEAD: Final = 6
"""Bytes of the count and the length before the packed rows."""
RAISED: Final = "You get better at {name} ({value}/{most})."
_ON_SCREEN: Final = "\\#6EFFcEYou get better at \n\\#C8FFC8{name}\\#6EFFcE! ({value}/{most})"
_ON_SCREEN_KIND, _ON_SCREEN_SOUND, _ON_SCREEN_SECONDS = 6, "skill_up", 2.75
_WHITE: Final = 255
SWIMMING: Final = "Swimming"
IN_WATER: Final = frozenset((6144, 6272))
"""Activities of a client that swims. Source: docs/protocol/world/movement.md#prediction."""
STEPS_A_USE: Final = 4
"""Of so many steps in water one is a use of `SWIMMING`, in the mean (EQ2Emulator: 25 %)."""
LEVEL_TYPES: Final = frozenset((1, 2, 3, 4, 5, 6, 12, 15, 17))
"""Types of skills whose highest value is that of the level: those of fights, magic and harvests.

Recorded at level 3: weapons, avoidance, armor, harvests and general skills have 15 then; those of
lore stay as they are.
"""
CRAFT_TYPES: Final = frozenset((7, 8, 9, 10, 18))
"""Types of the skills of crafting, whose highest value is that of the tradeskill level."""
BY_LEVEL: Final = frozenset((1852383242, 2072844078, 3429135390))
"""Dual Wield, Magic Affinity, Mystical Destruction: each level raises them (recorded)."""


class Skills:
    """The skills of the players of one world."""

    def __init__(self, world: World, chat: Chat) -> None:
        self._world = world
        self._chat = chat
        self._numbers: tuple[Knowledge, dict[str, int]] | None = None
        world.events.subscribe(LevelGained, self._leveled, Order.MINDS)
        world.events.subscribe(TradeLevelGained, self._trade_leveled, Order.MINDS)
        world.events.subscribe(SkillsChanged, self._changed)
        self._due: Deadlines[Player, str] = world.timetable.deadlines("books of skills", self._show)

    def number(self, name: str) -> int | None:
        """Return the number of a skill by its name, in any case."""
        knowledge = self._world.knowledge
        if self._numbers is None or self._numbers[0] is not knowledge:
            found = {skill.name.casefold(): skill.id for skill in knowledge.skills.values()}
            self._numbers = knowledge, found
        return self._numbers[1].get(name.casefold())

    def of(self, player: Player) -> dict[int, KnownSkill]:
        """Return the skills of a player by number."""
        return {skill.id: skill for skill in self._all(player)}

    def _all(self, player: Player) -> Sequence[KnownSkill]:
        character = player.character
        return character.skills or self._world.knowledge.beginners.skills(character)

    def value(self, player: Player, skill: int | str) -> int:
        """Return the value of a skill, by its number or name; 0 if a player does not have it."""
        known = self._known(player, skill)
        return known.value if known is not None else 0

    def total(self, player: Player, skill: int | str) -> int:
        """Return the value of a skill with what things and spells add to it."""
        number = self.number(skill) if isinstance(skill, str) else skill
        added = player.spawn.sheet.skill_bonus(number) if number else 0
        return self.value(player, skill) + added

    def _known(self, player: Player, skill: int | str) -> KnownSkill | None:
        number = self.number(skill) if isinstance(skill, str) else skill
        return next((one for one in self._all(player) if one.id == number), None)

    def use(self, player: Player, skill: int | str) -> bool:
        """Let a player use a skill, which may raise it by one; return whether it did."""
        known, chance = self._known(player, skill), self._world.zones.chances.of(player.zone)
        if known is None or not grows(known.value, known.most, chance):
            return False
        self.change_skills(player, [replace(known, value=known.value + 1)])
        return True

    def moved(self, player: Player) -> None:
        """Let a player use its skill of swimming, at some of the steps in water."""
        if player.spawn.activity in IN_WATER:
            chance = self._world.zones.chances.of(player.zone)
            if chance.randint(1, STEPS_A_USE) == 1:
                self.use(player, SWIMMING)

    def practise(self, player: Player, skill: int) -> bool:
        """Let a player use a skill of crafting, which it learns by that; return whether it grew."""
        row = self._world.knowledge.skills.get(skill)
        if row is None or row.type not in CRAFT_TYPES:
            return False
        if self._known(player, skill) is None:
            most = most_at(player.character.tradeskill_level)
            self.change_skills(player, [KnownSkill(skill, 1, most)])
            return True
        return self.use(player, skill)

    def change_skills(
        self, player: Player, changed: Iterable[KnownSkill], *, is_shown: bool = True
    ) -> None:
        """Change skills of a player, show who has become better, and send the book."""
        before = self.of(player)
        after = before | {skill.id: skill for skill in changed}
        if after == before:
            return
        kept = tuple(after[number] for number in sorted(after))
        player.character = replace(player.character, skills=kept)
        self._world.saves.changed(player, SavedKind.PAST, self._world.clock.now())
        for number, known in after.items():
            old = before.get(number)
            if is_shown and old is not None and known.value > old.value:
                self._show_raised(player, known)
        send_skill_book(player, self._world.knowledge, kept)

    def _changed(self, event: SkillsChanged) -> None:
        """Send the book with the next turn, once for all that a script changes in this one."""
        self._due.set(event.player, "", self._world.clock.now())

    def _show(self, player: Player, _name: str, _now: Monotonic) -> None:
        if player.state in IN_ZONE:
            send_skill_book(player, self._world.knowledge, self._all(player))

    def _show_raised(self, player: Player, known: KnownSkill) -> None:
        row = self._world.knowledge.skills.get(known.id)
        if row is not None:
            values = {"name": row.name, "value": known.value, "most": known.most}
            self._chat.line(player, RAISED.format(**values), "skill")
            player.client.send(
                "WS_OnScreenMsg",
                {
                    "unknown": _ON_SCREEN_KIND, "text": _ON_SCREEN.format(**values),
                    "message_type": _ON_SCREEN_SOUND, "size": _ON_SCREEN_SECONDS,
                    "red": _WHITE, "green": _WHITE, "blue": _WHITE,
                },
            )  # fmt: skip
        if self._world.events.has_listener(SkillGained):
            self._world.events.publish(SkillGained(player, known.id, known.value))

    def _trade_leveled(self, event: TradeLevelGained) -> None:
        """Raise what skills of crafting can reach."""
        most, rows = most_at(event.after), self._world.knowledge.skills
        changed = [
            replace(known, most=max(most, known.most))
            for number, known in self.of(event.player).items()
            if (row := rows.get(number)) is not None and row.type in CRAFT_TYPES
        ]
        self.change_skills(event.player, changed)

    def _leveled(self, event: LevelGained) -> None:
        """Raise what skills can reach, and those that each level raises."""
        most, rows = most_at(event.after), self._world.knowledge.skills
        changed = [
            _at_level(known, most)
            for number, known in self.of(event.player).items()
            if (row := rows.get(number)) is not None and _follows(row)
        ]
        self.change_skills(event.player, changed)


def _follows(row: Skill) -> bool:
    return row.type in LEVEL_TYPES


def _at_level(known: KnownSkill, most: int) -> KnownSkill:
    # What a script or a game master has raised beyond the level stays.
    most = max(most, known.most)
    return KnownSkill(known.id, most if known.id in BY_LEVEL else known.value, most)


# -- the book -------------------------------------------------------------------------------------


def send_skill_book(player: Player, knowledge: Knowledge, skills: Sequence[KnownSkill]) -> None:
    """Send a client its skills: packed, XORed with the book that it has.

    A row that comes back is XORed with what it was (real-entry-1208-start-fighter-priest).
    """
    client, session = player.client, player.session
    try:
        count, rows, tail = _book(client.dialect, knowledge, skills)
    except UnknownStruct:
        # Clients of this version have no such message.
        return
    if rows == session.skill_book and rows:
        return
    size, base = len(rows), session.skill_base
    delta = xor(rows, base[:size].ljust(size, b"\0"))
    session.skill_book, session.skill_base = rows, rows + base[size:]
    client.send_bytes("OP_UpdateSkillBookMsg", pack_counted(count, delta, tail, client.version))


def skill_book(dialect: Dialect, knowledge: Knowledge, skills: Sequence[KnownSkill]) -> bytes:
    """Return the first skill book of a client. Raises `UnknownStruct`."""
    return pack_counted(*_book(dialect, knowledge, skills), dialect.version)


def _book(
    dialect: Dialect, knowledge: Knowledge, skills: Sequence[KnownSkill]
) -> tuple[int, bytes, bytes]:
    """Return the number of skills, their rows, and the last byte."""
    rows = [_row(knowledge, skill, dialect.version) for skill in skills]
    whole = dialect.encode_known(SKILL_BOOK, {"skill_count": len(rows), "skill_array": rows})
    # Whatever the layout has beside the rows, only the last byte is not packed (recorded of 546,
    # 561, 1096, 1208, 60114 and 64753).
    return len(rows), whole[BOOK_HEAD:-1] if rows else b"", whole[-1:]


def _row(knowledge: Knowledge, known: KnownSkill, version: int) -> Mapping[str, Any]:
    skill = knowledge.skills.get(known.id)
    # A skill that is not in the files has no name, so its value is not shown.
    shown = int(skill is not None and skill.shown)
    return {
        "skill_id": known.id,
        "type": knowledge.skill_type(skill, version) if skill is not None else 0,
        "current_val": known.value,
        "base_val": known.value,
        "max_val": known.most,
        "display_minval": shown,
        "display_maxval": shown,
    }
