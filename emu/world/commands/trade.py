"""Commands of the windows of merchants, menders, banks, trades and loot, as clients send them.

What a window cannot send changes nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

from emu.commands import Argument, ArgumentKind, Call, Reply
from emu.commands.registry import MASTER
from emu.errors import CommandError, StoreError
from emu.rules.coins import coins_text
from emu.world.actors.player import Player
from emu.world.actors.reach import REACH, SLACK
from emu.world.actors.spawn import SpawnKind
from emu.world.commands.context import CommandContext, WorldCommandSet
from emu.world.commands.targets import visible_target
from emu.world.events import KillAsked
from emu.world.items.loot import Carried

WORDS: Final = Argument(
    "words", ArgumentKind.TEXT, "what the client's window sends", optional=True, default=""
)
OWN: Final = "self"
WHOM: Final = Argument(
    "whom", ArgumentKind.TEXT, "self for your own character", optional=True, default=""
)
COPPER: Final = Argument("copper", ArgumentKind.NUMBER, "the amount")
ITEM: Final = Argument("item", ArgumentKind.NUMBER, "the number of the kind of things")
MOST_THINGS: Final = 50
NOT_NOW: Final = "this cannot be done now; try again"
LONGEST_NUMBER: Final = 20
SHOPS: Final = ("frommerchant", "tomerchant", "repair")
"""Verbs of those who are hailed by whoever uses them: their scripts greet by `hailed`."""

COMMANDS = WorldCommandSet()
quiet = partial(COMMANDS.for_players, is_quiet=True)


def numbers_of(call: Call, count: int) -> list[int]:
    """Return the numbers that a window has sent; what is missing or no number is -1."""
    words = (call["words"] or "").split()[:count]
    found = [_number(word) for word in words]
    return [*found, *[-1] * (count - len(found))]


def _number(word: str) -> int:
    digits = word.removeprefix("-")
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= LONGEST_NUMBER
    return int(word) if is_number else -1


async def _stored(work: Awaitable[Any]) -> None:
    """Wait for an act that the store carries out. Raises `CommandError`."""
    try:
        await work
    except StoreError:
        raise CommandError(NOT_NOW) from None


def _greet(context: CommandContext, player: Player, call: Call) -> None:
    """Let a player hail a merchant or a mender that has a script (recorded).

    One without a script is not hailed (recorded). The command is a verb of the spawn.
    """
    target = visible_target(call, player)
    if target is None or not context.has_mind(player.zone, target):
        return
    verbs = {one.command.casefold(): one for one in (*target.verbs, *target.more_verbs)}
    verb = next((verbs[one] for one in SHOPS if one in verbs), None)
    reach = (verb.distance or REACH) if verb is not None else 0.0
    if player.position.distance_to(target.position) <= reach + SLACK:
        text = f"Hail, {target.name}"
        context.chat.say_near(player, "say", text, call.now, bubble=False)


# --- merchants


@quiet("frommerchant", "open the window of a merchant, your target")
async def _from_merchant(context: CommandContext, player: Player, call: Call) -> None:
    _greet(context, player, call)
    await _stored(context.trading.merchants.open(player))


@quiet("tomerchant", "open the window of a merchant, your target, to sell")
async def _to_merchant(context: CommandContext, player: Player, call: Call) -> None:
    _greet(context, player, call)
    await _stored(context.trading.merchants.open(player, to_sell=True))


@quiet("cancel_merchant", "close the window of a merchant")
async def _cancel_merchant(context: CommandContext, player: Player, _call: Call) -> None:
    context.trading.merchants.close(player)


@quiet("buy_from_merchant", "buy things of the open window", WORDS,
       example="buy_from_merchant 20904 1")  # fmt: skip
async def _buy(context: CommandContext, player: Player, call: Call) -> None:
    item_id, count = numbers_of(call, 2)
    await _stored(context.trading.merchants.buy(player, item_id, count))


@quiet("sell_to_merchant", "sell a thing, or so many of a stack", WORDS,
       example="sell_to_merchant 20904 1")  # fmt: skip
async def _sell(context: CommandContext, player: Player, call: Call) -> None:
    number, count = numbers_of(call, 2)
    await _stored(context.trading.merchants.sell(player, number, count))


@quiet("buyback_from_merchant", "buy back what you have sold", WORDS,
       example="buyback_from_merchant 20904 1")  # fmt: skip
async def _buy_back(context: CommandContext, player: Player, call: Call) -> None:
    (number,) = numbers_of(call, 1)
    await _stored(context.trading.merchants.buy_back(player, number))


@quiet("repair", "open the window of a mender, your target")
async def _repair(context: CommandContext, player: Player, call: Call) -> None:
    _greet(context, player, call)
    context.trading.menders.open(player)


@quiet("mender_repair", "have a thing repaired", WORDS, example="mender_repair 20904")
async def _repair_thing(context: CommandContext, player: Player, call: Call) -> None:
    (item_id,) = numbers_of(call, 1)
    await _stored(context.trading.menders.repair(player, item_id))


@quiet("mender_repair_all", "have all your things repaired")
async def _repair_all(context: CommandContext, player: Player, _call: Call) -> None:
    await _stored(context.trading.menders.repair(player))


# --- the bank


@quiet("bank", "open the bank of a banker, your target")
async def _bank(context: CommandContext, player: Player, _call: Call) -> None:
    await _stored(context.trading.banks.open(player))


@quiet("cancel_bank", "close the bank")
async def _cancel_bank(context: CommandContext, player: Player, _call: Call) -> None:
    await _stored(context.trading.banks.close(player))


@quiet("bank_deposit", "put copper into the bank", WORDS, example="bank_deposit 150")
async def _deposit(context: CommandContext, player: Player, call: Call) -> None:
    (copper,) = numbers_of(call, 1)
    await _stored(context.trading.banks.deposit(player, copper))


@quiet("bank_withdraw", "take copper out of the bank", WORDS, example="bank_withdraw 150")
async def _withdraw(context: CommandContext, player: Player, call: Call) -> None:
    (copper,) = numbers_of(call, 1)
    await _stored(context.trading.banks.withdraw(player, copper))


# --- loot


@quiet("loot", "open the body or the chest that is your target", aliases=("lootcorpse",))
async def _loot(context: CommandContext, player: Player, _call: Call) -> None:
    await _stored(context.trading.looting.open(player))


@COMMANDS.for_players("kill", "kill your target, a creature, or yourself", WHOM, rank=MASTER,
                      changes="spawn", example="kill self")  # fmt: skip
async def _kill(context: CommandContext, player: Player, call: Call) -> None:
    whom = call["whom"].casefold()
    if whom == OWN:
        context.combat.kill_self(player)
        return
    if whom:
        raise CommandError(f"kill takes nothing or the word {OWN}")
    target = player.target
    if target is None or target.kind is not SpawnKind.NPC:
        raise CommandError("your target is no creature")
    context.world.events.publish(KillAsked(player, target))


@COMMANDS.for_players("loot list", "list what your target has with it", rank=MASTER)
async def _loot_list(context: CommandContext, player: Player, _call: Call) -> Reply:
    carried, items = _carried(context, player), context.items
    lines = [f"coins: {coins_text(carried.coins)}"]
    for item_id, count in carried.things:
        kind = items.kinds.get(item_id)
        name = kind.name if kind is not None else "nothing describes it"
        lines.append(f"{item_id}  {name}  {count}")
    return Reply(tuple(lines))


@COMMANDS.for_players("loot setcoin", "let your target have so much copper with it", COPPER,
                      rank=MASTER, changes="spawn", example="loot setcoin 150")  # fmt: skip
async def _loot_coins(context: CommandContext, player: Player, call: Call) -> str:
    carried = _carried(context, player)
    if call["copper"] < 0:
        raise CommandError("name an amount of copper, 0 for none")
    carried.coins = call["copper"]
    return f"your target has {coins_text(carried.coins)}"


@COMMANDS.for_players("loot additem", "let your target have a thing with it", ITEM,
                      rank=MASTER, changes="spawn",
                      example="loot additem 2000000001")  # fmt: skip
async def _loot_add(context: CommandContext, player: Player, call: Call) -> str:
    carried, kind = _carried(context, player), context.items.kinds.get(call["item"])
    if kind is None:
        raise CommandError(f"there is no item {call['item']}")
    if len(carried.things) >= MOST_THINGS:
        raise CommandError("your target has too many things")
    carried.things.append((kind.id, kind.beginning_count()))
    return f"your target has {kind.name}"


@COMMANDS.for_players("loot removeitem", "take a thing from your target", ITEM,
                      rank=MASTER, changes="spawn",
                      example="loot removeitem 2000000001")  # fmt: skip
async def _loot_remove(context: CommandContext, player: Player, call: Call) -> str:
    carried = _carried(context, player)
    left = [one for one in carried.things if one[0] != call["item"]]
    if len(left) == len(carried.things):
        raise CommandError("your target has no such thing")
    carried.things = left
    return "your target has it no more"


def _carried(context: CommandContext, player: Player) -> Carried:
    """Return what the target, a living creature, has with it. Raises `CommandError`."""
    target = player.target
    if target is None or target.kind is not SpawnKind.NPC or target.hp_percent <= 0:
        raise CommandError("your target is no living creature")
    return context.trading.loots.carried(player.zone, target)


# --- trades of players


@quiet("start_trade", "open a trade with a player", WORDS, example="start_trade 26")
async def _start_trade(context: CommandContext, player: Player, call: Call) -> None:
    (index,) = numbers_of(call, 1)
    context.trading.trades.start(player, index)


@quiet("add_trade_item", "offer a thing in a trade", WORDS, example="add_trade_item 0 0 1")
async def _add_item(context: CommandContext, player: Player, call: Call) -> None:
    place, slot, count = numbers_of(call, 3)
    context.trading.trades.add_item(player, place, slot, count)


@quiet("remove_trade_item", "take an offered thing back", WORDS, example="remove_trade_item 0")
async def _remove_item(context: CommandContext, player: Player, call: Call) -> None:
    (slot,) = numbers_of(call, 1)
    context.trading.trades.remove_item(player, slot)


def _coin_command(coin: str) -> Callable[[bool], None]:
    def declare(is_more: bool) -> None:  # a local helper
        name = f"{'add' if is_more else 'remove'}_trade_{coin}"

        async def work(context: CommandContext, player: Player, call: Call) -> None:
            (count,) = numbers_of(call, 1)
            trades = context.trading.trades
            change = trades.add_coins if is_more else trades.remove_coins
            change(player, coin, count)

        words = "more" if is_more else "less"
        quiet(name, f"offer {words} {coin} in a trade", WORDS, example=f"{name} 5")(work)

    return declare


for _coin in ("copper", "silver", "gold", "plat"):
    for _is_more in (True, False):
        _coin_command(_coin)(_is_more)


@quiet("accept_trade", "accept what both of you offer")
async def _accept_trade(context: CommandContext, player: Player, _call: Call) -> None:
    await context.trading.trades.accept(player)


@quiet("cancel_trade", "end a trade", aliases=("reject_trade",))
async def _cancel_trade(context: CommandContext, player: Player, _call: Call) -> None:
    context.trading.trades.cancel(player)
