"""Amounts of coins as people type them, and the commands by which game masters give and take coins.

A gift names the account of the game master in the ledger; that of the console has the number 0.
"""

from __future__ import annotations

from typing import Final

from emu.commands import Argument, ArgumentKind, Call
from emu.commands.registry import MASTER
from emu.errors import CommandError
from emu.ledger import Outcome, Owner, OwnerKind, Part, Reason
from emu.rules.coins import coins_text
from emu.world.commands.context import NAME, CommandContext, WorldCommandSet, check_rank

AMOUNT: Final = Argument(
    "coins", ArgumentKind.TEXT,
    "platinum, gold, silver and copper, or an amount such as 3g 50s; a number alone is copper",
)  # fmt: skip
UNITS: Final = {"p": 1_000_000, "g": 10_000, "s": 100, "c": 1}
"""Copper of a coin, by its letter, in the order of four plain numbers."""
LARGEST_AMOUNT: Final = 0xFFFFFFFF
MOST_DIGITS: Final = 10
REFUSALS: Final = {
    Outcome.TOO_FEW: "{name} does not have that many coins, or would have too many",
    Outcome.NO_OWNER: "there is no character {name} any more",
    Outcome.BARRED: "try again",
}

COMMANDS = WorldCommandSet()


@COMMANDS.command(
    "coins give", "give coins to a character, in the world or not", NAME, AMOUNT, rank=MASTER,
    changes="character {name}",
    example="coins give Borvik 2g 50s",
)  # fmt: skip
async def _give(context: CommandContext, call: Call) -> str:
    copper = read_copper(call["coins"])
    name = await _move(context, call, copper, is_gift=True)
    return f"{name} is given {coins_text(copper)}"


@COMMANDS.command(
    "coins take", "take coins from a character, in the world or not", NAME, AMOUNT, rank=MASTER,
    changes="character {name}",
    example="coins take Borvik 50s",
)  # fmt: skip
async def _take(context: CommandContext, call: Call) -> str:
    copper = read_copper(call["coins"])
    name = await _move(context, call, copper, is_gift=False)
    return f"{name} loses {coins_text(copper)}"


async def _move(context: CommandContext, call: Call, copper: int, *, is_gift: bool) -> str:
    """Move coins between a game master and a character; return the character's name.

    Raises `CommandError` and `StoreError`.
    """
    row = await context.world.saves.characters.find_named(call["name"])
    if row is None:
        raise CommandError(f"there is no character {call['name']}")
    await check_rank(context, call, row.account_id, row.name, harmless=True)
    sides = [Owner(OwnerKind.GAME_MASTER, call.caller.account_id), Owner.character(row.id)]
    giver, taker = sides if is_gift else reversed(sides)
    part = Part(giver, taker, copper)
    movement = context.ledger.movement(Reason.COMMAND, [part], [row.account_id])
    moved = await context.ledger.move(movement)
    if not moved.is_done:
        raise CommandError(REFUSALS[moved.outcome].format(name=row.name))
    return row.name


def read_copper(text: str) -> int:
    """Return an amount that somebody has typed as copper. Raises `CommandError`."""
    words, units = text.split(), list(UNITS)
    amount = 0
    for place, word in enumerate(words):
        # Four numbers are the four coins in the order of their worth.
        unit = units[place] if len(words) == len(units) else "c"
        number = word
        if word[-1].casefold() in UNITS:
            number, unit = word[:-1], word[-1].casefold()
        if not (number.isascii() and number.isdigit() and len(number) <= MOST_DIGITS):
            raise CommandError(f"{word} is no number of coins")
        amount += int(number) * UNITS[unit]
    if not 0 < amount <= LARGEST_AMOUNT:
        raise CommandError("name an amount of coins: 1g 20s")
    return amount
