"""Options that a player has switched: invitations it declines, what it shows, and its status.

An option that is switched differs from its default. The character sheet has most options as bits of
its flags; clients up to 546 have some of them as fields of their own.

Source: docs/protocol/world/commands.md#options.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any, Final


class Option(enum.StrEnum):
    """An option, by the word that is stored."""

    DECLINE_DUELS = "decline_duels"
    DECLINE_TRADES = "decline_trades"
    DECLINE_GROUPS = "decline_groups"
    DECLINE_RAIDS = "decline_raids"
    DECLINE_GUILDS = "decline_guilds"
    DECLINE_LON = "decline_lon"
    DECLINE_VOICE = "decline_vcinvite"
    HIDE_ILLUSIONS = "hide_illusions"
    HIDE_HOOD = "hide_hood"
    HIDE_HELM = "hide_helm"
    HIDE_ACHIEVEMENTS = "hide_achievements"
    SHOW_CLOAK = "show_cloak"
    SHOW_RANGED = "show_ranged"
    NO_COMBAT_EXP = "no_combat_exp"
    NO_QUEST_EXP = "no_quest_exp"
    NO_BONUS_EXP = "no_bonus_exp"
    ANONYMOUS = "anonymous"
    ROLEPLAYING = "roleplaying"
    LOOKING_FOR_GROUP = "looking_for_group"
    LOOKING_FOR_WORK = "looking_for_work"


STATUS: Final = frozenset(
    (
        Option.ANONYMOUS, Option.ROLEPLAYING, Option.LOOKING_FOR_GROUP, Option.LOOKING_FOR_WORK,
        Option.HIDE_HOOD,
    )
)  # fmt: skip
"""Options that are also words of the player's spawn, which others are shown."""
DEFAULT_FLAGS: Final = 301465665
"""The flags of a sheet without a switched option, as EQ2Emulator was recorded to send them."""
BITS: Final = {
    Option.NO_COMBAT_EXP: 0, Option.NO_QUEST_EXP: 6, Option.ANONYMOUS: 12, Option.ROLEPLAYING: 13,
    Option.LOOKING_FOR_GROUP: 15, Option.LOOKING_FOR_WORK: 16, Option.HIDE_HOOD: 17,
    Option.HIDE_HELM: 18, Option.HIDE_ILLUSIONS: 19, Option.DECLINE_DUELS: 20,
    Option.DECLINE_TRADES: 21, Option.DECLINE_GROUPS: 22, Option.DECLINE_RAIDS: 23,
    Option.DECLINE_GUILDS: 24, Option.SHOW_CLOAK: 29,
}  # fmt: skip
"""The bit of the flags that an option changes."""
AWAY_BIT: Final = 14
"""The bit of who is away from the keyboard."""
SECOND_BITS: Final = {Option.SHOW_RANGED: 4, Option.HIDE_ACHIEVEMENTS: 8}
"""The same in the second flags, which are 0 without a switched option."""
SHOWN_FIELDS: Final = {
    "flags_show_hood": (Option.HIDE_HOOD, Option.HIDE_HELM),
    "flags_show_illusion_form": (Option.HIDE_ILLUSIONS,),
    "flags_show_duel_invites": (Option.DECLINE_DUELS,),
    "flags_show_trade_invites": (Option.DECLINE_TRADES,),
    "flags_show_group_invites": (Option.DECLINE_GROUPS,),
    "flags_show_raid_invites": (Option.DECLINE_RAIDS,),
    "flags_show_guild_invites": (Option.DECLINE_GUILDS,),
}
"""Fields of older sheets that are 1 while none of these options is switched."""
STATUS_FIELDS: Final = {
    "flags_anonymous": Option.ANONYMOUS, "flags_roleplaying": Option.ROLEPLAYING,
    "flags_lfg": Option.LOOKING_FOR_GROUP, "flags_lfw": Option.LOOKING_FOR_WORK,
}  # fmt: skip
"""Fields of older sheets that are 1 while the option is switched."""


class PlayerOptions:
    """The switched options of one player."""

    __slots__ = ("_switched",)

    def __init__(self, text: str = "") -> None:
        """Read a stored text; words that this program does not know are left out."""
        self._switched = {word for word in text.split() if word in set(Option)}

    def __contains__(self, option: Option) -> bool:
        return option in self._switched

    @property
    def text(self) -> str:
        """The options as they are stored."""
        return " ".join(sorted(self._switched))

    @property
    def words(self) -> frozenset[str]:
        """The words of the player's spawn."""
        return frozenset(str(one) for one in STATUS if one in self._switched)

    def set(self, option: Option, *, on: bool) -> bool:
        """Switch an option; return whether that changed anything."""
        if on == (option in self._switched):
            return False
        if on:
            self._switched.add(option.value)
        else:
            self._switched.discard(option.value)
        return True

    def sheet_fields(self, *, is_away: bool = False) -> dict[str, Any]:
        """Return the values of a character sheet; a version uses those it has.

        `is_away` is whether the player is away from the keyboard.
        """
        return {
            **{
                name: int(not any(option in self for option in options))
                for name, options in SHOWN_FIELDS.items()
            },
            **{name: int(option in self) for name, option in STATUS_FIELDS.items()},
            "flags_afk": int(is_away),
            "flags": DEFAULT_FLAGS ^ self._bits(BITS.items()) | is_away << AWAY_BIT,
            "flags2": self._bits(SECOND_BITS.items()),
        }

    def _bits(self, bits: Iterable[tuple[Option, int]]) -> int:
        return sum(1 << bit for option, bit in bits if option in self)
