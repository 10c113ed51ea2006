"""Windows of spells, and the cast that a client stops: what clients ask about their spells.

Source: docs/protocol/world/fights.md#spell-windows.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

from emu.dialects import world_rules
from emu.dialects.dialect import wire_texts
from emu.errors import UnknownStruct
from emu.items.kinds import Scroll
from emu.rules.stance import GREY, arrow_color
from emu.spells.kinds import SpellKind, SpellTier
from emu.times import Monotonic
from emu.world.actors.player import IN_ZONE, Player
from emu.world.item_events import SpellExamined, TeachingShown
from emu.world.items.texts import NOTHING_TO_EXAMINE
from emu.world.items.windows import STRUCT
from emu.world.messages import WorldMessages
from emu.world.spells.books import SpellBooks, icon_of
from emu.world.spells.casts import Casts
from emu.world.spells.core import SpellCore

MESSAGE: Final = "OP_EqExamineInfoCmd"
OLD_EFFECT, OLD_SPELL = 1, 3
"""Types of windows up to 561."""
EFFECT, SPELL = 0x81, 0x83
"""Subtypes of windows from 562 on."""
NO_CLASS: Final = 255
"""The class of a row for everybody; windows do not name it (recorded in real-entry-*)."""
EASY, USUAL = 6, 3
"""Colors of a spell's name: of one far below its reader's level, and of any other."""
TENTHS, LEVEL_UNIT = 10, 10
SHORT: Final = 20
"""An unnamed byte of all recorded windows."""
_U16, _U8 = 0xFFFF, 0xFF


class SpellWindows:
    """Answers what the clients of one world ask about spells."""

    def __init__(self, core: SpellCore, books: SpellBooks, casts: Casts) -> None:
        """Subscribe to requests to examine a spell."""
        self._kinds = core.kinds
        self._chat = core.chat
        self._books = books
        self._casts = casts
        core.world.events.subscribe(SpellExamined, self._examined)
        core.world.events.subscribe(TeachingShown, self._scroll_shown)

    def register(self, messages: WorldMessages) -> None:
        """Add the request to stop a cast to the table."""
        messages.add_handler("OP_CancelSpellCast", self._stop, IN_ZONE)

    def _stop(self, player: Player, _body: bytes, _now: Monotonic) -> None:
        self._casts.stop(player)

    def _examined(self, event: SpellExamined) -> None:
        player = event.player
        kind = self._kinds.get(event.spell_id)
        if kind is None or not kind.is_active:
            if event.is_asked:
                self._chat.line(player, NOTHING_TO_EXAMINE, "error")
            return
        number = event.tier or player.past.spell_tier(kind.id) or 1
        tier = kind.tier(number)
        if tier is None:
            return
        fields = effect_fields if event.is_effect else spell_fields
        part = fields(kind, tier, player.client.version)
        if not event.is_effect:
            part |= self._of_reader(player, kind)
        name = "effect" if event.is_effect else "spell"
        rules = player.client.dialect.world_rules
        if rules.older_windows:
            head: dict[str, Any] = {
                "show_name": int(event.is_asked), "simplename": "",
                "packettype": OLD_EFFECT if event.is_effect else OLD_SPELL,
            }  # fmt: skip
        else:
            head = {
                "show_popup": int(event.is_asked), "packettype": rules.item_window_type,
                "packetsubtype": EFFECT if event.is_effect else SPELL,
            }  # fmt: skip
        client, values = player.client, {**head, name: part}
        with suppress(UnknownStruct):
            client.command(MESSAGE, client.dialect.encode_known(STRUCT, wire_texts(values)))

    def _scroll_shown(self, event: TeachingShown) -> None:
        """Add the spell that a scroll teaches; one that is switched off is unknown."""
        scroll, player = event.kind.part, event.player
        if not isinstance(scroll, Scroll):
            return
        kind = self._kinds.get(scroll.spell_id)
        tier = kind.tier(scroll.tier) if kind is not None and kind.is_active else None
        if kind is not None and tier is not None:
            fields = spell_fields(kind, tier, player.client.version)
            # Recorded: inside of a scroll a spell does not name its tier.
            own = {"display_spell_tier": 0}
            lesson: dict[str, Any] = {"spell": fields | self._of_reader(player, kind) | own}
            has = player.past.spell_tier(kind.id)
            if has >= scroll.tier:
                lesson |= {"scribed": 1, "scribed_better_version": int(has > scroll.tier)}
            event.answers.append(lesson)

    def _of_reader(self, player: Player, kind: SpellKind) -> dict[str, Any]:
        """Return the levels of the classes that learn a spell, and the color for a reader."""
        rows = [
            {
                "adventure_class": one.class_, "tradeskill_class": one.tradeskill_class,
                "spell_level": round(self._books.level_of(one) * LEVEL_UNIT) & _U16,
            }
            for one in [one for one in kind.classes if one.class_ != NO_CLASS
                        or one.tradeskill_class != NO_CLASS][:_U8]
        ]  # fmt: skip
        level = self._books.level_in(player, kind)
        own = player.spawn.level
        is_easy = level is not None and arrow_color(int(level), own) == GREY
        return {
            "num_levels": len(rows), "level_array": rows,
            "spell_text_color": EASY if is_easy else USUAL,
        }  # fmt: skip


def spell_fields(kind: SpellKind, tier: SpellTier, version: int) -> dict[str, Any]:
    """Return the fields of a spell's part of its window, but for those of its reader."""
    rules = world_rules(version)
    cost = tier.cost
    duration = round(tier.duration * TENTHS), round(tier.longest * TENTHS)
    return {
        "id": kind.id, "icon": icon_of(kind, version) & _U16, "icon2": kind.heroic_icon & _U16,
        "icontype": kind.backdrop & _U16, "version": rules.spell_window & _U16,
        "sub_version": rules.spell_window >> 16, "type": int(kind.book),
        "class_skill": kind.class_skill, "mastery_skill": kind.mastery_skill,
        "min_class_skill_req": kind.min_class_skill & _U16, "tier": tier.number & _U8,
        "health_req": cost.health, "power_req": int(cost.power), "savagery_req": cost.savagery,
        "dissonance_req": cost.dissonance, "req_concentration": cost.concentration,
        "cast_time": min(_U16, round(tier.cast_time * rules.spell_window_times)),
        "recovery": min(_U16, round(tier.recovery * TENTHS)), "recast": tier.recast,
        "radius": tier.radius, "max_aoe_targets": tier.most_targets & _U16,
        "friendly_spell": int(kind.is_friendly), "minimum_range": tier.min_range,
        "range": tier.range, "duration1": duration[0], "duration2": duration[1],
        "unknown9": SHORT, "duration_flag": int(kind.lasts_until_cancelled),
        "target": int(kind.target), "can_effect_raid": int(kind.affects_raid),
        "affect_only_group_members": int(kind.only_group), "group_spell": int(kind.is_group),
        "resistibility": tier.resistibility, "hit_bonus": tier.hit_bonus, **_texts(kind, tier),
    }  # fmt: skip


def effect_fields(kind: SpellKind, tier: SpellTier, _version: int) -> dict[str, Any]:
    """Return the fields of the window of what a spell does to somebody."""
    return {
        "id": kind.id, "icon": kind.icon & _U16, "icontype": kind.backdrop & _U16,
        "tier": tier.number & _U8, "type": int(kind.book), **_texts(kind, tier),
    }  # fmt: skip


def _texts(kind: SpellKind, tier: SpellTier) -> dict[str, Any]:
    lines = [
        {
            "subbulletflag": one.bullet & _U8, "effect": one.text,
            "percentage": one.percentage & _U8,
        }
        for one in tier.lines[:_U8]
    ]  # fmt: skip
    return {
        "num_effects": len(lines), "effect_array": lines,
        "display_spell_tier": int(kind.shows_tier), "name": kind.name,
        "description": kind.description,
    }  # fmt: skip
