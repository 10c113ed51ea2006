"""The lines about a cast that has landed: to its caster, and to those near.

Source: docs/protocol/world/fights.md#casts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from emu.world.social.chat import Chat
from emu.world.spells.living import LivingSpell
from emu.world.spells.shows import HEARD, filled
from emu.world.zones.zone import Zone

NAME: Final = "{name}"
SUCCESS: Final = "Your {name} was successful on %t!"
"""What the caster of a spell without a line of its own reads."""
OWN_WORDS: Final = ("You ", "Your ")
"""How lines about the caster itself begin."""


def say(
    chat: Chat, players: Mapping[Spawn, Player], spell: LivingSpell, first: Spawn | None
) -> None:
    """Tell the caster that a spell has landed, and those near what it does.

    `players` are those of the world, and `first` is the first target. Words of the caster about
    itself are for the caster alone: EQ2Emulator sends them to all near.
    """
    if spell.is_silent:
        return
    kind, caster = spell.kind, spell.caster
    player = players.get(caster)
    target = first if first is not None else caster
    # Recorded: what a used thing casts says its success as well; what is given at once does not.
    is_given = spell.is_free and spell.tier.cast_time <= 0
    if player is not None and spell.targets and not is_given:
        text = filled(kind.success_message or SUCCESS, caster, target)
        chat.line(player, text.replace(NAME, kind.name), "spell_success")
    say_effect(chat, players, spell.zone, kind.effect_message, (caster, target))


def say_effect(
    chat: Chat, players: Mapping[Spawn, Player], zone: Zone, message: str,
    sides: tuple[Spawn, Spawn],
) -> None:  # fmt: skip
    """Tell those near what a spell or a proc does; `sides` are its caster and its target."""
    caster, target = sides
    text, player = filled(message, caster, target), players.get(caster)
    if not text:
        return
    if text.startswith(OWN_WORDS):
        hearers = [player] if player is not None else []
    else:
        hearers = [
            other for viewer, other in players.items()
            if other.zone is zone and viewer.position.distance_to(target.position) <= HEARD
        ]  # fmt: skip
    for hearer in hearers:
        chat.line(hearer, text, "spell")
