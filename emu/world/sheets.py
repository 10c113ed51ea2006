"""Character sheets: their values, with those of the player's group, and sending changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from emu.dialects.dialect import wire_name
from emu.model import Present
from emu.rules.levels import usual_pools
from emu.rules.weights import carried_weight
from emu.spells.kinds import LONGEST_PET_NAME
from emu.times import Monotonic
from emu.world.actors.bonus_types import (
    FIGHT_SPEED,
    HIDDEN_SPEED,
    MORE_CONCENTRATION,
    MOUNT_AIR_SPEED,
    MOUNT_SPEED,
    SLOWNESS,
    SPEED,
)
from emu.world.actors.client import EFFECTS, NO_SPELL, sheet_fields
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.sheet import FieldKind, ShownEffect, ShownMaintained
from emu.world.actors.spawn import Spawn, StateWord
from emu.world.deadlines import Deadlines
from emu.world.events import LeftZone
from emu.world.world import World

SHEET_PAUSE: Final = 0.3
"""Seconds in which the changes of a fight share one sheet."""
DETRIMENTS: Final = ("trauma", "arcane", "noxious", "elemental")
"""What harmful spells on a player are counted as."""
CONCENTRATION: Final = 5
LONGEST_SPELL: Final = 59
"""Bytes of the name of a spell in the list of those that last."""
STAYS, FOLLOWS = 1, 2
_SENSES: Final = (
    ("vision", FieldKind.UNSIGNED), ("breathe_underwater", FieldKind.UNSIGNED),
    ("drunk", FieldKind.FRACTION),
)  # fmt: skip
GHOST_SIZE: Final = 0.51
NOBODY: Final = 0xFFFFFFFF
COMBAT: Final = "combat"
"""The word of a spawn that fights."""
_WHOLE: Final = 100.0


class CharacterSheets:
    """Sends character sheets to the players of one world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.listeners: list[Callable[[Player], object]] = []
        """Called for a player whose sheet may have changed, whatever has changed it."""
        self.more: list[Callable[[Player], Mapping[str, Any]]] = []
        """Each returns further values of a player's sheet."""
        self._now = world.clock.now
        self._due: Deadlines[Player, str] = world.timetable.deadlines(
            "character sheets", self._send_due, may_wait=True
        )
        world.events.subscribe(LeftZone, lambda event: self._due.clear(event.player, ""))

    def soon(self, player: Player, pause: float = SHEET_PAUSE) -> None:
        """Send a client the change of its sheet within so many seconds; several changes share one.

        With a pause of 0 it is sent with the next deadlines, after all that this turn does.
        """
        due = Monotonic(self._now() + pause)
        before = self._due.get(player, "")
        if before is None or due < before:
            self._due.set(player, "", due)

    def _send_due(self, player: Player, _name: str, _now: Monotonic) -> None:
        if player.is_online and player.state in IN_ZONE:
            self.send(player)

    def send(self, player: Player) -> None:
        """Send a client the change of its character sheet, or nothing if it is unchanged."""
        self._due.clear(player, "")
        for listener in self.listeners:
            listener(player)
        # The sheet keeps what the client has, so it is updated even if nothing is sent.
        sheet, speed = player.session.sheet, speed_of(player.spawn)
        payload = sheet.update(self.fields(player))
        if payload is not None or speed != sheet.speed:
            # EQ2Emulator sends this before every sheet, and it carries the speed.
            player.client.send("WS_SetControlGhost", {
                "spawn_id": NOBODY, "speed": speed, "size": GHOST_SIZE,
                "air_speed": player.spawn.sheet.bonus(MOUNT_AIR_SPEED),
            })  # fmt: skip
            sheet.speed = speed
        if payload is not None:
            player.client.send_bytes("OP_UpdateCharacterSheetMsg", payload)

    def fields(self, player: Player) -> dict[str, Any]:
        """Return the values of a player's sheet."""
        rules = player.client.dialect.world_rules
        fields = sheet_fields(player.character, player.spawn.sheet, rules)
        carried = carried_weight(player.holdings.inventory.weight, player.character.coins)
        for more in self.more:
            fields |= more(player)
        is_away = StateWord.AFK in player.spawn.words
        return {
            **fields, "weight": carried, **player.options.sheet_fields(is_away=is_away),
            **self._spell_fields(player),
            **self._group_fields(player),
        }  # fmt: skip

    def _spell_fields(self, player: Player) -> dict[str, Any]:
        """Return the values of the spells that last on a player, and of its own on others."""
        marks = player.spawn.sheet.spells
        fields: dict[str, Any] = {
            "conc_used": marks.concentration,
            "conc_max": CONCENTRATION + int(player.spawn.sheet.bonus(MORE_CONCENTRATION)),
        }  # fmt: skip
        is_old = player.client.dialect.world_rules.older_sheet
        # Newer clients have resistances by these names.
        ending = "" if is_old else "_count"
        counts = zip(DETRIMENTS, marks.detriments, strict=True)
        fields |= {f"{name}{ending}": count for name, count in counts}
        for name, kind in _SENSES:
            value = player.spawn.sheet.get(name, kind)
            if value:
                fields[name] = value
        fields |= _pet_fields(player)
        if marks.effects:
            # Older clients have one list for all effects.
            harmful = [one for one in marks.effects if one.is_harmful and not is_old]
            shown = [one for one in marks.effects if one not in harmful]
            fields["spell_effects"] = _effect_rows(shown)
            fields["detrimental_spell_effects"] = _effect_rows(harmful)
        if marks.maintained:
            fields["maintained_effects"] = [
                _maintained_row(player, slot, one) for slot, one in enumerate(marks.maintained)
            ]
        return fields

    def _group_fields(self, player: Player) -> dict[str, Any]:
        """Return the values about the other members of a player's group."""
        world = self._world
        group = world.groups.table.of(player.id)
        if group is None:
            return {}
        found = (self._member_fields(player, one) for one in group.members if one != player.id)
        leader = world.players.get(group.leader)
        return {
            "group_members": [fields for fields in found if fields is not None],
            # Without a ghost of the leader, the client is sent no leader.
            "group_leader_id": _index_of(player, leader) if leader is not None else NOBODY,
        }

    def _member_fields(self, player: Player, member: int) -> dict[str, Any] | None:
        """Return the values of another member; None if nothing is known of it."""
        other = self._world.players.get(member)
        if other is None:
            present = self._world.groups.present(member)
            return None if present is None else self._fields_elsewhere(present)
        sheet = other.spawn.sheet
        pet = sheet.spells.pet
        pet_spawn = other.zone.spawn(pet.spawn_id) if pet is not None else None
        index = player.index_of(pet_spawn) if pet_spawn is not None else None
        counts = zip(DETRIMENTS, sheet.spells.detriments, strict=True)
        return {
            **_plain_fields(other.present),
            **{f"{name}_count": min(count, 255) for name, count in counts},
            "pet_id": NOBODY if index is None else index,
            "zone_status": int(other.zone is player.zone),
            "spawn_id": _index_of(player, other),
            "hp_current": sheet.health.current,
            "hp_max": sheet.health.most,
            "power_current": sheet.power.current,
            "power_max": sheet.power.most,
            "zone": other.zone.definition.description,
            # The field is one byte; a higher instance is only shown wrong.
            "instance": min(other.zone.instance, 255),
        }

    def _fields_elsewhere(self, present: Present) -> dict[str, Any]:
        """Return the values of a member at another node; its instance is not known here."""
        zone = self._world.zones.table.get(present.zone_id)
        return {
            **_plain_fields(present),
            "zone_status": 0,
            "spawn_id": NOBODY,
            "zone": "" if zone is None else zone.description,
            "instance": 0,
        }


def speed_of(spawn: Spawn) -> float:
    """Return the percent by which a player is faster than usual; below 0 it is slower.

    Recorded in real-spells-546-mage from 80.86 s on: 6.0 for a player with bonuses of 5 and 1.
    """
    sheet = spawn.sheet
    gain = sheet.bonus(SPEED)
    if COMBAT in spawn.words:
        gain = max(gain, sheet.bonus(FIGHT_SPEED))
    if sheet.spells.stealth:
        gain += sheet.bonus(HIDDEN_SPEED)
    # A mount and legs do not add up: the faster one counts.
    gain = max(gain, sheet.bonus(MOUNT_SPEED)) - sheet.bonus(SLOWNESS)
    return max(-_WHOLE, (_WHOLE + gain) * sheet.spells.snare - _WHOLE)


def _plain_fields(present: Present) -> dict[str, Any]:
    """Return the values of a member that do not depend on where it is."""
    full = usual_pools(present.level, is_player=True)
    return {
        "name": present.name,
        "pet_id": NOBODY,
        "level_current": present.level,
        "level_max": present.level,
        "race_id": present.race,
        "class_id": present.class_,
        "hp_current": full.health,
        "hp_max": full.health,
        "power_current": full.power,
        "power_max": full.power,
    }


def _pet_fields(player: Player) -> dict[str, Any]:
    """Return the values of the window of a player's pet."""
    shown = player.spawn.sheet.spells.pet
    pet = player.zone.spawn(shown.spawn_id) if shown is not None else None
    index = player.index_of(pet) if pet is not None else None
    if shown is None or pet is None or index is None:
        return {}
    return {
        "pet_id": index, "pet_name": wire_name(pet.name)[:LONGEST_PET_NAME],
        "pet_health_pct": float(pet.sheet.health.percent) / 100,
        "pet_power_pct": float(pet.sheet.power.percent) / 100,
        "pet_movement": STAYS if shown.stays else FOLLOWS, "pet_behavior": shown.guards,
    }  # fmt: skip


def _effect_rows(effects: Sequence[ShownEffect]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [
        {
            "spell_id": one.spell_id, "total_time": one.total, "expire_timestamp": one.ends_at,
            "icon": one.icon & 0xFFFF, "icon_type": one.backdrop & 0xFFFF,
            "cancellable": int(one.can_be_cancelled),
        }
        for one in effects[:EFFECTS]
    ]  # fmt: skip
    return [*rows, *[{"spell_id": NO_SPELL}] * (EFFECTS - len(rows))]


def _maintained_row(player: Player, slot: int, one: ShownMaintained) -> dict[str, Any]:
    target = player.zone.spawn(one.target_id)
    index = player.index_of(target) if target is not None else None
    return {
        "name": wire_name(one.name)[:LONGEST_SPELL],
        "target": NOBODY if index is None else index,
        "target_type": one.target_kind, "spell_id": one.spell_id, "slot_pos": slot,
        "icon": one.icon & 0xFFFF, "icon_type": one.backdrop & 0xFFFF, "unknown3": 1,
        "conc_used": one.concentration, "total_time": one.total, "expire_timestamp": one.ends_at,
    }  # fmt: skip


def _index_of(player: Player, other: Player) -> int:
    # A client names other players by its own index of their ghosts.
    index = player.index_of(other.spawn)
    return NOBODY if index is None else index
