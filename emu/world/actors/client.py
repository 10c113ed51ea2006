"""A player's client: its dialect and session, text lines, and the character sheet.

`PlayerClient` encodes messages for the version and sends them through a `PlayerLink`, which
the shell provides. `SheetSender` keeps the sheet that the client has. Every byte of a sheet without
a value is zero; EQ2Emulator's sheets contain remains of its memory there
(docs/protocol/world/entering.md#character-sheet).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from emu.dialects import Dialect
from emu.dialects.dialect import CLIENT_COMMAND, WorldVersionRules, wire_name, wire_texts
from emu.errors import UnknownOpcode, UnknownStruct
from emu.model import WorldCharacter
from emu.rules.weights import most_weight
from emu.session import SessionStatistics
from emu.structs.packed import pack, unpack, write_client_cmd, xor
from emu.world.actors.sheet import ATTRIBUTES, FieldKind, Pool, Sheet

# Colors of the client's chat window, by number.
ERROR_COLOR: Final = 3
SYSTEM_COLOR: Final = 5
TEXT_TAIL: Final = 0x00FF


class PlayerLink(Protocol):
    """The session of a client, as the world uses it."""

    def send(self, opcode: int, payload: bytes) -> None:
        """Send one application message."""

    def send_later(self, opcode: int, payload: bytes) -> None:
        """Send one message together with the next one, a moment later at most."""

    def trust(self) -> None:
        """Lift the limits for unauthenticated peers: the client has shown its key."""

    def charge_to(self, account_id: int) -> None:
        """Charge the session's work to an account, together with its other sessions."""

    def close(self) -> None:
        """Close the session after all sent messages have left."""

    def capacity(self) -> int:
        """Return the capacity in bytes; 0 or less if the link is full."""

    def round_trip(self) -> float | None:
        """Return the round-trip time in seconds; None while it is not measured."""

    def statistics(self) -> SessionStatistics:
        """Return the counters of the session."""

    def wake(self) -> None:
        """Ask for the player's timer again; it has changed outside of a call from the shell."""


@dataclass(slots=True, eq=False)
class PlayerClient:
    """One client that is in the world."""

    dialect: Dialect
    link: PlayerLink
    address: str
    """Its IP address."""
    drops: Counter[str] = field(default_factory=Counter)
    """Messages without an effect, by reason."""
    lines_left_out: int = 0
    """Lines of chat that were dropped since its link had capacity last."""
    _line_bytes: int = 0
    """Bytes of lines that were sent since then."""

    @property
    def version(self) -> int:
        """The client's data version."""
        return self.dialect.version

    def send(self, struct: str, values: Mapping[str, Any] | None = None) -> bool:
        """Send a struct as a message; values that its version does not have are left out.

        Returns False for a message that this version does not have: then nothing is sent, as
        with every client of another age. Raises `StructValueError`.
        """
        try:
            number, payload = self.dialect.message(struct, wire_texts(values or {}))
        except (UnknownStruct, UnknownOpcode):
            return self._missing(struct)
        self.link.send(number, payload)
        return True

    def send_line(self, struct: str, values: Mapping[str, Any], backlog: int) -> None:
        """Send a line of chat, unless `backlog` bytes of lines wait for a full link.

        What others say must not fill the memory while a player's connection is interrupted.
        `has_capacity` reports how many lines were dropped. Raises `StructValueError`.
        """
        if self.link.capacity() > 0:
            self.has_capacity()
        elif self._line_bytes >= backlog:
            self.lines_left_out += 1
            return
        try:
            number, payload = self.dialect.message(struct, wire_texts(values))
        except (UnknownStruct, UnknownOpcode):
            self._missing(struct)
            return
        # Chat is the only traffic that others cause at will, so it has a bound of its own on a slow
        # link.
        self._line_bytes += len(payload)
        self.link.send(number, payload)

    def has_capacity(self) -> None:
        """Note that the link has capacity again; send the player how many lines were lost."""
        # This call means that the link has carried what was queued, so the backlog begins anew.
        self._line_bytes = 0
        if self.lines_left_out:
            count, self.lines_left_out = self.lines_left_out, 0
            text = f"Your connection was interrupted. Lines of chat that were lost: {count}."
            self.send(
                "WS_DisplayText", {"color": SYSTEM_COLOR, "text": text, "unknown02": TEXT_TAIL}
            )

    def send_bytes(self, name: str, payload: bytes = b"") -> bool:
        """Send a message by its opcode's name, encoded already; returns as `send`."""
        try:
            number = self.dialect.table.number(name)
        except UnknownOpcode:
            # No error: older clients lack newer messages, and everything else must reach them.
            return self._missing(name)
        self.link.send(number, payload)
        return True

    def command(self, name: str, payload: bytes, *, may_wait: bool = False) -> None:
        """Send a command inside OP_ClientCmdMsg, by its opcode's name.

        One that `may_wait` leaves with the next message, a moment later at most.
        """
        table = self.dialect.table
        try:
            number, inner = table.number(CLIENT_COMMAND), table.number(name)
        except UnknownOpcode:
            self._missing(name)
            return
        send = self.link.send_later if may_wait else self.link.send
        send(number, write_client_cmd(inner, payload, self.version))

    def capacity(self) -> int:
        """Return the capacity of the link in bytes."""
        return self.link.capacity()

    def ping(self) -> int:
        """Return the round-trip time in milliseconds; 0 while it is not measured."""
        return round((self.link.round_trip() or 0.0) * 1000)

    def close(self) -> None:
        """Close the session after all sent messages have left."""
        self.link.close()

    def drop(self, reason: str) -> None:
        """Count a message that has no effect."""
        self.drops[reason] += 1

    def _missing(self, name: str) -> bool:
        self.drops[f"{name} unknown to version {self.version}"] += 1
        return False


__all__ = ["ERROR_COLOR", "SYSTEM_COLOR", "send_text", "text_fields"]


def send_text(client: PlayerClient, text: str, color: int = SYSTEM_COLOR) -> None:
    """Show a line in the chat window."""
    client.send("WS_DisplayText", text_fields(text, color))


def text_fields(text: str, color: int) -> dict[str, Any]:
    """Return the fields of WS_DisplayText for a line."""
    return {"color": color, "text": text, "unknown02": TEXT_TAIL}


SHEET: Final = "WS_CharacterSheet"
_SHOWN: Final = {"intel": "int"}
"""Attributes that the message calls otherwise."""
EFFECTS: Final = 45
"""The most effects of one kind that a version's sheet has; clients up to 561 have 30."""
NO_SPELL: Final = 0xFFFFFFFF
BREATH: Final = 30.0
NO_GUILD: Final = 888888
NOWHERE: Final = "None"
COINS: Final = ("coins_copper", "coins_silver", "coins_gold", "coins_plat")
COINS_OF_NEXT: Final = 100
"""Copper of a silver, silver of a gold, gold of a platinum."""
LONGEST_LAST_NAME: Final = 19
"""Bytes of the field for it, without its end."""


def coin_fields(copper: int) -> dict[str, int]:
    """Return an amount of copper as copper, silver, gold and platinum."""
    fields = {}
    # The last coin takes the rest, however much it is.
    for name in COINS[:-1]:
        copper, fields[name] = divmod(copper, COINS_OF_NEXT)
    return fields | {COINS[-1]: copper}


def experience_fields(
    points: int, needed: int, rules: WorldVersionRules, name: str = "exp"
) -> dict[str, int]:
    """Return the bars of experience of a client version: the level, and a part of it.

    Recorded in fight-546-melee-a and fight-561-melee-a: 98.625 % of a level are 98 and 86.
    """
    # Without a known amount for the next level, the bars stay empty.
    if needed <= 0:
        return {}
    # Below the amount that makes a level, so that no bar is shown as overfull.
    hundredfold, whole = 100 * min(points, needed - 1), needed * rules.bar_span
    return {
        f"{name}_yellow": hundredfold // needed * rules.bar_unit,
        f"{name}_blue": hundredfold % whole * 100 * rules.bar_unit // whole,
    }


def debt_fields(character: WorldCharacter) -> dict[str, float]:
    """Return the debt of deaths: up to 1208 the place on the bar up to which it reaches.

    Without a debt that is the place of the points (recorded).
    """
    needed, debt = character.experience_needed, character.experience_debt
    if needed <= 0:
        return {}
    percents = 100 * min(character.experience, needed - 1) / needed
    # The debt has thousandths of a percent.
    return {
        "exp_debt": int(10 * percents + debt / 100),
        "debt_adv_xp": debt / 100_000 * needed,
        "adventure_exp_vitality": character.vitality // 100,
    }


def _pool_fields(pool: Pool, name: str) -> dict[str, int]:
    return {
        f"current_{name}": pool.current,
        f"max_{name}": pool.most,
        f"base_{name}": pool.base or pool.most,
    }


def _attribute_fields(sheet: Sheet) -> dict[str, int]:
    return {
        _SHOWN.get(name, name) + base: max(0, min(0x7FFF, sheet.attribute(name + base)))
        for base in ("", "_base")
        for name in ATTRIBUTES
    }


_RESISTS: Final = (
    "", "", "", "heat", "cold", "magic", "mental", "divine", "disease", "poison",
)  # fmt: skip
"""Fields of the resistances by their number in the message; blows are warded off by armor."""
_NEWER_RESISTS: Final = {"elemental": "heat", "noxious": "poison", "arcane": "magic"}
"""The resistances that newer clients show, each by the one of old that stands for it (recorded)."""


def worn_fields(sheet: Sheet) -> dict[str, Any]:
    """Return the fields that what is carried and worn changes."""

    def number(name: str) -> int:
        return int(sheet.get(name, FieldKind.UNSIGNED) or 0)

    return {
        "weight": number("weight"),
        "max_weight": number("max_weight") or most_weight(sheet.attribute("str")),
        "mitigation_cur": number("cur_mitigation"),
        "resists": [number(name) if name else 0 for name in _RESISTS],
        "resists_base": [number(f"{name}_base") if name else 0 for name in _RESISTS],
        **{
            shown + base: number(name + base)
            for shown, name in _NEWER_RESISTS.items()
            for base in ("", "_base")
        },
        "melee_pri_dmg_min": number("primary_weapon_damage_low"),
        "melee_pri_dmg_max": number("primary_weapon_damage_high"),
        "melee_pri_delay": number("primary_weapon_delay") / 10,
        "melee_sec_dmg_min": number("secondary_weapon_damage_low"),
        "melee_sec_dmg_max": number("secondary_weapon_damage_high"),
        "melee_sec_delay": number("secondary_weapon_delay") / 10,
        "ranged_dmg_min": number("ranged_weapon_damage_low"),
        "ranged_dmg_max": number("ranged_weapon_damage_high"),
    }


def sheet_fields(
    character: WorldCharacter, sheet: Sheet, rules: WorldVersionRules
) -> dict[str, Any]:
    """Return the values of a character sheet; a version uses those it has.

    `rules` are those of the client's version.
    """
    return {
        "character_name": character.name,
        "race": character.race,
        "gender": character.gender,
        "class3": character.class_,
        "level": character.level,
        "effective_level": character.level,
        "tradeskill_class3": character.tradeskill_class,
        "tradeskill_level": character.tradeskill_level,
        # Cut, because a longer text would not fit and the whole sheet would fail.
        "last_name": wire_name(character.last_name)[:LONGEST_LAST_NAME],
        "status_points": character.status_points,
        **coin_fields(character.coins),
        **experience_fields(character.experience, character.experience_needed, rules),
        **experience_fields(
            character.tradeskill_experience, character.tradeskill_needed, rules, "tradeskill_exp"
        ),
        **_pool_fields(sheet.health, "hp"),
        **_pool_fields(sheet.power, "power"),
        **_attribute_fields(sheet),
        "combat_exp_enabled": 1,
        **worn_fields(sheet),
        "spell_effects": [{"spell_id": NO_SPELL}] * EFFECTS,
        "detrimental_spell_effects": [{"spell_id": NO_SPELL}] * EFFECTS,
        **debt_fields(character),
        "current_adv_xp": float(character.experience),
        "needed_adv_xp": float(character.experience_needed),
        "current_trade_xp": float(character.tradeskill_experience),
        "needed_trade_xp": float(character.tradeskill_needed),
        "breath": BREATH,
        "guild_status": NO_GUILD,
        "house_zone": NOWHERE,
        "bind_zone": NOWHERE,
    }


class SheetSender:
    """Sends one client the changes of its sheet."""

    __slots__ = ("_dialect", "_sent", "speed")

    def __init__(self, dialect: Dialect) -> None:
        """Begin without a baseline, as a client that enters a zone. Raises `UnknownStruct`."""
        self._dialect = dialect
        dialect.layout(SHEET)
        self._sent: bytes | None = None
        """The sheet as the client has it, packed: most of its 5 to 16 kB are zeros."""
        self.speed = 0.0
        """The percent of more speed that the client was sent."""

    def update(self, values: Mapping[str, Any]) -> bytes | None:
        """Return the payload of the change since the last call, None if nothing has changed."""
        version = self._dialect.version
        # Encoded as a whole each time. A sheet changes rarely, and the XOR finds what is different.
        new = self._dialect.encode_known(SHEET, values)
        packed = pack(new, version)
        before, self._sent = self._sent, packed
        # The client's baseline is zeros when it enters a zone, so the first sheet is its own delta.
        if before is None:
            return packed
        # Packing is a function of the bytes, so equal packed sheets are equal sheets: nothing is
        # unpacked.
        if before == packed:
            return None
        base, _ = unpack(before, len(new), version)
        return pack(xor(new, base), version)
