"""Functions that change what players can do: resurrection, books, experience, vision and breath.

Source: docs/guides/spells.md#gaining.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from emu.scripts.signatures import FunctionTable
from emu.spells.kinds import SpellBook
from emu.world.actors.sheet import FieldKind
from emu.world.actors.spawn import Spawn
from emu.world.combat.figures import gap
from emu.world.scripts.bodies import Body
from emu.world.scripts.functions.spells import acting, keep, receivers
from emu.world.scripts.host import Scripts
from emu.world.spells.custom import shown_text
from emu.world.spells.remains import BREATH, DRUNK, VISION

ABILITIES: Final = FunctionTable()
SWORD_REACH: Final = 4.0
_BOOKS: Final = (
    SpellBook.TRADESKILL, SpellBook.SPELLS, SpellBook.ARTS, SpellBook.ABILITIES, SpellBook.HIDDEN,
)  # fmt: skip
"""The parts of a book, the one of the lowest bit first."""


@ABILITIES(
    "Resurrect",
    "f health=0, f power=0, 1 asks?, P player?, t name?, n critical?, 1 no_formulas?,"
    " u sickness?, n tier?",
)
def resurrect(
    scripts: Scripts, health: float, power: float, asks: bool, player: Body | None, name: str,
    _critical: int, _plain: bool, sickness: int, tier: int,
) -> None:  # fmt: skip
    """Let dead players live again where they lie, the targets of the spell if none is named.

    With `asks` a window lets them choose, else it happens at once.
    """
    spell = acting(scripts)
    if spell is None:
        return
    named = [player.spawn] if player is not None else list(spell.targets)
    shown = shown_text(name) or spell.kind.name
    for one in named:
        dead = scripts.spells.company.players.get(one)
        if dead is not None and one.hp_percent <= 0:
            scripts.spells.raise_dead(
                dead, spell.caster.name, shown, health=health, power=power, asks=asks
            )
            if sickness and one.hp_percent > 0:
                scripts.spells.give(dead, sickness, max(1, tier))


@ABILITIES("StartHeroicOpportunity", "P player, u class, S spawn?")
def start_opportunity(
    scripts: Scripts, body: Body | None, class_: int, _spawn: Body | None
) -> None:  # fmt: skip
    """Let a player start the heroic opportunities of a class."""
    if body is not None and body.player is not None:
        scripts.spells.opportunities.start(body.player, class_)


@ABILITIES("GiveExp", "P player, u points")
def give_experience(scripts: Scripts, body: Body | None, points: int) -> None:
    """Give a player experience."""
    player = body.player if body is not None else None
    if player is not None and scripts.levels.gain(player, points, scripts.now):
        scripts.levels.cheer_tenth(player)


# -- books --------------------------------------------------------------------------------------


@ABILITIES("SendNewAdventureSpells", "P player")
def send_new_spells(scripts: Scripts, body: Body | None) -> None:
    """Give a player the spells of its class and level that it lacks."""
    if body is not None and body.player is not None:
        scripts.spells.books.gain(body.player)


@ABILITIES("SendNewTradeskillSpells", "P player")
def send_new_trade_spells(scripts: Scripts, body: Body | None) -> None:
    """Give a player the spells that its level brings; arts of crafts are among them."""
    send_new_spells(scripts, body)


@ABILITIES("DeleteSpellBook", "P player, n kinds=0")
def delete_book(scripts: Scripts, body: Body | None, kinds: int) -> None:
    """Take a player's spells away: those of the books whose bits are set, without any all."""
    if body is None or body.player is None:
        return
    chosen = {book for at, book in enumerate(_BOOKS) if kinds & (1 << at)}
    scripts.spells.books.clear(body.player, chosen or _BOOKS)


# -- vision and breath --------------------------------------------------------------------------


def _set(scripts: Scripts, body: Body | None, name: str, kind: FieldKind, value: float) -> None:
    spawns: Iterable[Spawn] = receivers(acting(scripts), body)
    for one in spawns:
        if one in scripts.spells.company.players:
            one.sheet.set(name, kind, value)
            keep(scripts, one, name, value)
            scripts.spells.states.changed(one)


@ABILITIES("BreatheUnderwater", "S spawn?, b on?")
def breathe(scripts: Scripts, body: Body | None, on: bool) -> None:
    """Let the targets of the spell breathe under water, or not any more."""
    _set(scripts, body, BREATH, FieldKind.UNSIGNED, int(on))


@ABILITIES("SetVision", "S spawn?, u kind?")
def set_vision(scripts: Scripts, body: Body | None, kind: int) -> None:
    """Set how the targets of the spell see: 0 as usual, or one of the client's ways."""
    _set(scripts, body, VISION, FieldKind.UNSIGNED, kind)


@ABILITIES("BlurVision", "S spawn?, f strength?")
def blur_vision(scripts: Scripts, body: Body | None, strength: float) -> None:
    """Let the targets of the spell see as if they were drunk; 0 clears it."""
    _set(scripts, body, DRUNK, FieldKind.FRACTION, strength)


# -- creatures ----------------------------------------------------------------------------------


@ABILITIES("HasRecovered", "N npc")
def has_recovered(scripts: Scripts, body: Body | None) -> bool:
    """Return whether a creature may choose a spell: it casts nothing and has rested."""
    return body is not None and scripts.spells.creatures.has_recovered(body.spawn)


@ABILITIES("ProcessSpell", "N npc, S foe, f distance?")
def process_spell(scripts: Scripts, body: Body | None, foe: Body | None, _distance: float) -> bool:
    """Let a creature cast one of its spells at a foe, if it can; return whether it does."""
    if body is None or foe is None or body.home is not foe.home:
        return False
    return scripts.spells.creatures.cast(body.home.zone, body.spawn, foe.spawn) is not None


@ABILITIES("AttackAllowed", "S spawn, S foe, f distance?, b ranged?")
def attack_allowed(
    scripts: Scripts, body: Body | None, foe: Body | None, _distance: float, _ranged: bool
) -> bool:
    """Return whether a spawn can strike another now."""
    if body is None or foe is None or body.home is not foe.home:
        return False
    return (
        min(body.spawn.hp_percent, foe.spawn.hp_percent) > 0
        and not scripts.spells.hinders(body.spawn)
        and gap(body.spawn, foe.spawn) <= SWORD_REACH
    )


@ABILITIES("SetCastOnAggroComplete", "N npc, 1 is_done?")
def set_opened(scripts: Scripts, body: Body | None, is_done: bool) -> bool:
    """Note whether a creature has cast all with which it opens a fight."""
    return body is not None and scripts.spells.creatures.set_opened(
        body.home.zone, body.spawn, is_done=is_done
    )


@ABILITIES("IsCastOnAggroComplete", "N npc")
def has_opened(scripts: Scripts, body: Body | None) -> bool:
    """Return whether a creature has cast all with which it opens a fight."""
    return body is not None and scripts.spells.creatures.has_opened(body.home.zone, body.spawn)
