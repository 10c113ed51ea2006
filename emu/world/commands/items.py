"""Commands about things: those that clients send for their windows, and those of game masters.

The game master's account is the giver in the ledger; that of the console has the number 0.
"""

from __future__ import annotations

from typing import Final

from emu.commands import Argument, ArgumentKind, Call, Cost
from emu.commands.registry import MASTER
from emu.errors import CommandError
from emu.items.kinds import ItemKind
from emu.items.refusals import Refusal
from emu.ledger import Owner, OwnerKind, Part, Reason
from emu.world.actors.client import send_text
from emu.world.actors.player import Player
from emu.world.commands.context import (
    NAME,
    CommandContext,
    WorldCommandSet,
    check_rank,
    player_named,
)
from emu.world.items.texts import RED, YELLOW

WORDS: Final = Argument("words", ArgumentKind.TEXT, "what the client's window sends", optional=True)
ITEM: Final = Argument("item", help="the number of the kind of things")
REST: Final = Argument(
    "rest", ArgumentKind.TEXT, "how many, and `bank` to put them into the bank", optional=True
)
LARGEST_COUNT: Final = 10_000
MOST_FOUND: Final = 50
MOST_DIGITS: Final = 10

COMMANDS = WorldCommandSet()


@COMMANDS.for_players(
    "inventory", "move, wear and destroy your things", WORDS, example="inventory equip 0"
)
async def _inventory(context: CommandContext, player: Player, call: Call) -> None:
    await context.item_acts.inventory(player, call["words"] or "")


@COMMANDS.for_players(
    "attune_inv", "bind a thing to yourself, and wear it", WORDS, example="attune_inv 0 1 0 -1"
)
async def _attune(context: CommandContext, player: Player, call: Call) -> None:
    await context.item_acts.attune(player, call["words"] or "")


@COMMANDS.for_players(
    "summonitem", "make things for yourself or your target", ITEM, REST, rank=MASTER,
    changes="character", example="summonitem 2000000001 5",
)  # fmt: skip
async def _summon(context: CommandContext, player: Player, call: Call) -> None:
    kind = _kind(context, call["item"])
    if kind is None:
        send_text(player.client, f"Could not find item with id of: {call['item']}", RED)
        return
    words = (call["rest"] or "").split()
    in_bank = "bank" in words
    count = next((_count(word) for word in words if word != "bank"), 0)
    await _give(context, call, player, kind, count, in_bank=in_bank)


@COMMANDS.command(
    "giveitem", "give things to a player", NAME, ITEM, REST, rank=MASTER,
    changes="character {name}", example="giveitem Borvik 2000000001 5",
)  # fmt: skip
async def _give_item(context: CommandContext, call: Call) -> str:
    player = player_named(context, call["name"], call)
    await check_rank(context, call, player.character.account_id, player.name, harmless=True)
    kind = _kind(context, call["item"])
    if kind is None:
        raise CommandError(f"there is no item {call['item']}")
    words = (call["rest"] or "").split()
    count = next((_count(word) for word in words), 0)
    await _give(context, call, player, kind, count)
    return f"{player.name} is given {kind.name}"


@COMMANDS.command(
    "itemsearch", "list the kinds of things whose name contains a text",
    Argument("text", ArgumentKind.TEXT, "a part of the name"), rank=MASTER, cost=Cost.LISTING,
    example="itemsearch sword",
)  # fmt: skip
async def _search(context: CommandContext, call: Call) -> str:
    found = context.items.kinds.search(call["text"], MOST_FOUND)
    if not found:
        raise CommandError(f"no name of a thing contains {call['text']!r}")
    return "\n".join(f"{number}  {name}" for number, name in found)


@COMMANDS.for_players(
    "player coins", "give coins to your target, or to yourself",
    Argument("act", help="what to do", choices=("add",)),
    Argument("amount", ArgumentKind.NUMBER, "copper"),
    rank=MASTER, changes="character", example="player coins add 100",
)  # fmt: skip
async def _add_coins(context: CommandContext, player: Player, call: Call) -> None:
    amount = int(call["amount"])
    if not 0 < amount <= 0xFFFFFFFF:
        raise CommandError("name an amount of copper")
    target = context.world.players.of_spawn(player.target) or player
    await check_rank(context, call, target.character.account_id, target.name, harmless=True)
    giver, taker = Owner(OwnerKind.GAME_MASTER, call.caller.account_id), Owner.character(target.id)
    movement = context.ledger.movement(
        Reason.COMMAND, [Part(giver, taker, amount)], [target.character.account_id]
    )
    moved = await context.ledger.move(movement)
    if not moved.is_done:
        raise CommandError(f"{target.name} would have too many coins")
    whom = "yourself" if target is player else target.name
    send_text(player.client, f"You give {whom} {amount} coins", YELLOW)


def _kind(context: CommandContext, word: str) -> ItemKind | None:
    """Return the kind of a number that somebody has typed."""
    is_number = word.isascii() and word.isdigit() and len(word) <= MOST_DIGITS
    return context.items.kinds.get(int(word)) if is_number else None


def _count(word: str) -> int:
    if not (word.isascii() and word.isdigit() and 0 < int(word[:9]) <= LARGEST_COUNT):
        raise CommandError(f"{word} is no number of things from 1 to {LARGEST_COUNT}")
    return int(word)


async def _give(
    context: CommandContext,
    call: Call,
    player: Player,
    kind: ItemKind,
    count: int,
    *,
    in_bank: bool = False,
) -> None:
    """Give new things to a player. Raises `CommandError`."""
    items, holdings = context.items, player.holdings
    giver = Owner(OwnerKind.GAME_MASTER, call.caller.account_id)
    number = kind.beginning_count(count)
    await holdings.gate.pass_through()
    try:
        make = items.make_in_bank if in_bank else items.make
        found = make(player, kind, number, giver)
        if isinstance(found, Refusal):
            items.refuse(player, found)
            return
        items.changed(player, [one.id for one in found] if in_bank else ())
    finally:
        holdings.gate.leave()
