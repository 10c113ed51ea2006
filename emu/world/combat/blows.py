"""Messages about blows and deaths, to all who see both sides.

Source: docs/protocol/world/fights.md#blows.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from emu.dialects import Dialect
from emu.dialects.dialect import wire_name
from emu.rules.combat import LARGEST_DAMAGE, Result
from emu.world.actors.spawn import Spawn
from emu.world.visibility.viewer import Viewer
from emu.world.zones.zone import Zone

HEARD: Final = 50.0
"""How far a blow is shown."""
DEATH_HEARD: Final = 30.0
NOBODY: Final = b"\xff\xff\xff\xff"
PLAIN, CRITICAL, SPELL, CRITICAL_SPELL, RANGED, RANGED_SPELL = 0xC0, 0xC4, 0xC1, 0xC5, 0xE2, 0xE3
"""Forms of a blow from 562 on."""
_FROM: Final = 0xF1A5E2D3
_TO: Final = 0xF4B6C7D8
"""Stand where a viewer's own numbers of the two sides come."""
_FROM_BYTES, _TO_BYTES = _FROM.to_bytes(4, "little"), _TO.to_bytes(4, "little")
_RESULTS: Final[Mapping[Result, int]] = {
    Result.MISS: 1, Result.DODGE: 2, Result.PARRY: 3, Result.RIPOSTE: 4, Result.BLOCK: 5,
    Result.INVULNERABLE: 7, Result.RESIST: 9, Result.REFLECT: 10, Result.IMMUNE: 11,
}  # fmt: skip
"""Numbers of results up to 561; newer clients have the same order in wider steps."""
_OLD_CRITICAL: Final = 4
_OF_SPELL: Final = 5
"""What newer clients are sent in front of the result of a spell (recorded)."""
LAST_DAMAGE_TYPE: Final = 14
STRUCT: Final = "WS_HearSimpleDamage"
LONGEST_NAME: Final = 255
"""Bytes of the name of a spell."""


class Blow(NamedTuple):
    """What a blow did."""

    result: Result
    damage: int = 0
    damage_type: int = 0
    is_critical: bool = False
    spell: str = ""
    """The name of the spell or art that it is; empty for a swing."""
    is_ranged: bool = False
    look: int = 0
    """The model of the weapon of a shot."""

    @property
    def form(self) -> int:
        """Its form from 562 on."""
        if self.is_ranged:
            return RANGED_SPELL if self.spell else RANGED
        if self.spell:
            return CRITICAL_SPELL if self.is_critical else SPELL
        return CRITICAL if self.is_critical else PLAIN


@lru_cache(maxsize=1024)
def _encoded(dialect: Dialect, blow: Blow) -> bytes:
    """Return the payload of a blow for a client version, with marks for the two sides."""
    rules = dialect.world_rules
    landed = blow.result is Result.HIT and blow.damage > 0
    number = _RESULTS.get(blow.result, 0) * rules.blow_step
    hurt: dict[str, Any] = {
        "damage_type": blow.damage_type,
        # The messages have 16 bits.
        "damage": min(blow.damage, LARGEST_DAMAGE),
    }
    if "dmg_array" in dialect.template(STRUCT):
        critical = _OLD_CRITICAL if blow.is_critical else 0
        hurt = {"num_dmg": 1, "dmg_array": [hurt | {"crit_flag": critical}]}
    values: dict[str, Any] = {
        "packet_type": blow.form,
        "attacker": _FROM, "defender": _TO, "defender_proxy": _TO,
        "result_type": rules.blow_landed if landed else number,
        **hurt,
    }  # fmt: skip
    if blow.is_ranged:
        values["weapon_appearance"] = blow.look
    if blow.spell:
        values |= {
            "spell": 1, "spell_name": wire_name(blow.spell)[:LONGEST_NAME], "unknown": _OF_SPELL,
        }  # fmt: skip
    return dialect.encode_known(STRUCT, values)


@lru_cache(maxsize=64)
def _death(dialect: Dialect, kind: int) -> bytes:
    values = {"attacker": _FROM, "defender": _TO, "damage_type": kind}
    return dialect.encode_known("WS_HearDeath", values)


def _index(viewer: Viewer, spawn: Spawn) -> bytes | None:
    index = viewer.interest.index_of(spawn)
    return None if index is None else index.to_bytes(4, "little")


def show_blow(zone: Zone, attacker: Spawn, victim: Spawn, blow: Blow) -> None:
    """Show a blow to all who see both sides and are near, to the two sides at once.

    To the others it may come a moment later: in a battle each would get a datagram for each blow.
    """
    place = victim.position
    for viewer in zone.observers(victim):
        source, target = _index(viewer, attacker), _index(viewer, victim)
        if source is None or target is None or viewer.spawn.position.distance_to(place) > HEARD:
            continue
        payload = _encoded(viewer.form.dialect, blow)
        viewer.link.command(
            "OP_EqHearCombatCmd",
            payload.replace(_FROM_BYTES, source).replace(_TO_BYTES, target),
            may_wait=viewer.spawn is not attacker and viewer.spawn is not victim,
        )


def show_death(zone: Zone, killer: Spawn | None, dead: Spawn, kind: int = 0) -> None:
    """Show to all who are near that somebody has died of a type of damage."""
    place = dead.position
    for viewer in zone.observers(dead):
        target = _index(viewer, dead)
        if target is None or viewer.spawn.position.distance_to(place) > DEATH_HEARD:
            continue
        source = _index(viewer, killer) if killer is not None else None
        payload = _death(viewer.form.dialect, kind)
        viewer.link.command(
            "OP_EqHearDeathCmd",
            payload.replace(_FROM_BYTES, source or NOBODY).replace(_TO_BYTES, target),
        )
