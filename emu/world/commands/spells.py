"""Commands of spells: casts, the ends of one's own effects, and those of game masters."""

from __future__ import annotations

from functools import partial

from emu.commands import Argument, ArgumentKind, Call, Reply
from emu.commands.registry import GUIDE
from emu.errors import CommandError
from emu.spells.kinds import SpellKind
from emu.world.actors.player import Player
from emu.world.commands.context import CommandContext, WorldCommandSet
from emu.world.commands.targets import visible_target
from emu.world.spells.pets import FIGHTERS, GUARDS_ITSELF, GUARDS_MASTER

COMMANDS = WorldCommandSet()
quiet = partial(COMMANDS.for_players, is_quiet=True)
staff = partial(COMMANDS.for_players, rank=GUIDE, changes="spell {spell}")

SPELL = Argument("spell", ArgumentKind.TEXT, "its number or name, as in your book")
NUMBER = Argument("spell", ArgumentKind.NUMBER, "its number")
TIER = Argument("tier", ArgumentKind.NUMBER, "which of its tiers", optional=True, default=1)
SLOT = Argument("slot", ArgumentKind.NUMBER, "its place in the list, from 0 on")
ORDER = Argument("order", ArgumentKind.WORD, "what it is to do")
MOST_LISTED = 40
PET_LINES = {
    "attack": "You command your pet to attack your target.",
    "backoff": "You command your pet to back down.",
    "stay": "You command your pet to stay.",
    "follow": "You command your pet to follow.",
    "getlost": "You tell your pet to get lost.",
}
"""What a player reads, as it was recorded."""
GUARD_LINES = {
    "guardme": (GUARDS_MASTER, "Your pet guards you {state}."),
    "guardhere": (GUARDS_ITSELF, "Your pet guards itself {state}."),
}
"""Orders that are given once more to take them back."""
ALIASES = {
    "stayhere": "stay", "followme": "follow", "preserve_master": "guardme",
    "preserve_self": "guardhere",
}  # fmt: skip
"""Other words of clients for the same orders."""


@quiet("useability", "cast a spell of your book at your target", NUMBER,
       Argument("tier", ArgumentKind.NUMBER, "is ignored: that of your book counts",
                optional=True, default=None), example="useability 110014")  # fmt: skip
async def _use(context: CommandContext, player: Player, call: Call) -> None:
    context.spells.use(player, call["spell"])


@quiet("cast", "cast a spell of your book at your target", SPELL, example="cast Smite")
async def _cast(context: CommandContext, player: Player, call: Call) -> None:
    context.spells.use(player, _own(context, player, call["spell"]).id)


def _own(context: CommandContext, player: Player, text: str) -> SpellKind:
    """Return a spell of a player's book by number or name. Raises `CommandError`."""
    kinds = context.spells.kinds.load(player.past.spells)
    wanted = text.strip().casefold()
    for number, kind in kinds.items():
        if wanted in (str(number), kind.name.casefold()):
            return kind
    raise CommandError(f"your book has no spell {text}")


@COMMANDS.for_players("spells", "list the spells of your book")
async def _spells(context: CommandContext, player: Player, _call: Call) -> Reply:
    kinds = context.spells.kinds.load(player.past.spells)
    rows = sorted(
        (kind.name, number, player.past.spell_tier(number)) for number, kind in kinds.items()
    )
    if not rows:
        return Reply(("Your book has no spells.",))
    lines = [f"{name} ({number}), tier {tier}" for name, number, tier in rows[:MOST_LISTED]]
    if len(rows) > MOST_LISTED:
        lines.append(f"and {len(rows) - MOST_LISTED} more")
    return Reply(tuple(lines))


@quiet("clearallqueuedabilities", "forget the spell that you would cast next",
       aliases=("clear_all_queuedabilities",))  # fmt: skip
async def _clear(context: CommandContext, player: Player, _call: Call) -> None:
    context.spells.casts.clear_queue(player)


@quiet("cancel_maintained", "end a spell of yours that lasts", SLOT, example="cancel_maintained 0")
async def _cancel_maintained(context: CommandContext, player: Player, call: Call) -> None:
    context.spells.cancel_maintained(player, call["slot"])


@quiet("cancel_effect", "end a friendly spell that lasts on you", NUMBER,
       example="cancel_effect 110002")  # fmt: skip
async def _cancel_effect(context: CommandContext, player: Player, call: Call) -> None:
    context.spells.cancel_effect(player, call["spell"])


@staff("castspell", "cast any spell at your target, without any check", NUMBER, TIER,
       example="castspell 110014 1")  # fmt: skip
async def _cast_any(context: CommandContext, player: Player, call: Call) -> str:
    kind = _described(context, call["spell"])
    target = visible_target(call, player)
    context.spells.cast_for_free(player, kind, call["tier"], target)
    return f"You cast {kind.name}."


@staff("givespell", "put a spell into the book of your target, or your own", NUMBER, TIER,
       example="givespell 110014 1")  # fmt: skip
async def _give(context: CommandContext, player: Player, call: Call) -> str:
    kind = _described(context, call["spell"])
    owner = _owner(context, player)
    if not context.spells.books.learn(owner, kind.id, call["tier"]):
        raise CommandError(f"{owner.name} has {kind.name} of this tier already")
    return f"{owner.name} has {kind.name} now."


@staff("takespell", "take a spell out of the book of your target, or your own", NUMBER,
       example="takespell 110014")  # fmt: skip
async def _take(context: CommandContext, player: Player, call: Call) -> str:
    kind = _described(context, call["spell"])
    owner = _owner(context, player)
    if not context.spells.books.unlearn(owner, kind.id):
        raise CommandError(f"{owner.name} does not have {kind.name}")
    return f"{owner.name} does not have {kind.name} any more."


@COMMANDS.for_players("pet", "give your pet an order: attack, backoff, stay, follow, guardme,"
                      " guardhere or getlost", ORDER, example="pet attack")  # fmt: skip
async def _pet(context: CommandContext, player: Player, call: Call) -> str:
    pets, target = context.spells.pets, player.target
    order = str(call["order"]).casefold()
    order = ALIASES.get(order, order)
    pet = pets.of(player.spawn, *FIGHTERS)
    if order not in PET_LINES and order not in GUARD_LINES:
        raise CommandError(f"pets do not know {order}")
    if pet is None:
        raise CommandError("you have no pet")
    if order in GUARD_LINES:
        whom, line = GUARD_LINES[order]
        is_on = pets.toggle_guard(player.spawn, whom)
        return line.format(state="now" if is_on else "no more")
    if order == "attack":
        if target is None or not context.spells.may_harm(player.spawn, target):
            raise CommandError("your pet cannot attack that")
        pets.attack(player.spawn, target)
    elif order == "backoff":
        pets.back_off(player.spawn)
    elif order == "getlost":
        pets.dismiss(pet)
    else:
        pets.stay(player.spawn, on=order == "stay")
    return PET_LINES[order]


def _described(context: CommandContext, number: int) -> SpellKind:
    kind = context.spells.kinds.get(number)
    if kind is None:
        raise CommandError(f"there is no spell {number}")
    return kind


def _owner(context: CommandContext, player: Player) -> Player:
    target = player.target
    found = context.spells.company.players.get(target) if target is not None else None
    return found or player
