"""Houses of players: the messages of their windows, their commands, and functions for scripts."""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from typing import Any, Final

from emu.commands import Argument, ArgumentKind, Call
from emu.errors import CommandError, StoreError
from emu.houses import AccessLevel
from emu.scripts.signatures import FunctionTable
from emu.times import Monotonic
from emu.world.actors.player import IN_ZONE, Player
from emu.world.commands.context import PlayerCommandSet
from emu.world.housing.furniture import PlacedThings
from emu.world.housing.housing import NOT_NOW, Housing
from emu.world.messages import WorldMessages
from emu.world.scripts.bodies import Body
from emu.world.subjects.subject import Subject

WORDS: Final = Argument(
    "words", ArgumentKind.TEXT, "what the client's window sends", optional=True, default=""
)
MOST_DIGITS: Final = 19
MOST_COINS: Final = 2**53
_STRUCTS: Final = {
    "OP_BuyPlayerHouseMsg": "WS_BuyHouse",
    "OP_EnterHouseMsg": "WS_EnterHouse",
    "OP_PayHouseUpkeepMsg": "WS_PayUpkeep",
    "OP_HouseDefaultAccessSetMsg": "WS_HouseDefaultAccessSetMsg",
    "OP_HouseAccessSetMsg": "WS_HouseAccessSetMsg",
    "OP_HouseAccessRemoveMsg": "WS_HouseAccessRemoveMsg",
}


class Houses(Subject):
    """The houses of one world, as clients and scripts use them."""

    def __init__(self, housing: Housing, furniture: PlacedThings) -> None:
        self.housing = housing
        self.furniture = furniture

    def register(self, messages: WorldMessages) -> None:
        """Add the messages of the windows of houses."""
        for name in _STRUCTS:
            messages.add_handler(name, partial(self._asked, name), IN_ZONE)
        messages.add_handler("OP_ExitHouseMsg", self._left, IN_ZONE)
        messages.add_handler("OP_PositionMoveableObject", self._put, IN_ZONE)
        messages.add_handler("OP_CancelMoveObjectModeMsg", self._cancelled, IN_ZONE)

    def _asked(self, name: str, player: Player, body: bytes, _now: Monotonic) -> None:
        """Carry out what a window asks for. Raises `MalformedMessage`."""
        fields = player.client.dialect.layout(_STRUCTS[name]).decode(body)
        self.housing.begin(player, self._act(name, player, fields))

    def _act(self, name: str, player: Player, fields: dict[str, Any]) -> Awaitable[None]:
        housing, number = self.housing, fields["house_id"]
        if name == "OP_BuyPlayerHouseMsg":
            return housing.buy(player, number)
        if name == "OP_EnterHouseMsg":
            return housing.enter(player, number)
        if name == "OP_PayHouseUpkeepMsg":
            return housing.pay_upkeep(player, number)
        if name == "OP_HouseAccessRemoveMsg":
            return housing.remove_access(player, number, fields["unique_id"])
        level = AccessLevel(min(fields["access_level"], AccessLevel.TRUSTEE))
        if name == "OP_HouseAccessSetMsg":
            return housing.set_access(player, number, fields["player_name"], level)
        return housing.set_public(player, number, level)

    def _left(self, player: Player, _body: bytes, _now: Monotonic) -> None:
        self.housing.begin(player, self.housing.leave(player))

    def _put(self, player: Player, body: bytes, _now: Monotonic) -> None:
        fields = player.client.dialect.layout("WS_PlaceMoveableObject").decode(body)
        self.furniture.begin(player, fields)

    def _cancelled(self, player: Player, _body: bytes, _now: Monotonic) -> None:
        self.furniture.cancel(player)


# --- commands

COMMANDS = PlayerCommandSet[Houses]()
quiet = partial(COMMANDS.for_players, is_quiet=True)


def _numbers(call: Call) -> list[int]:
    """Return the numbers that a window has sent, up to the first word that is none."""
    found: list[int] = []
    for word in (call["words"] or "").split():
        if not (word.isascii() and word.isdigit() and len(word) <= MOST_DIGITS):
            break
        found.append(int(word))
    return found


async def _stored(work: Awaitable[object]) -> None:
    """Wait for an act that the store carries out. Raises `CommandError`."""
    try:
        await work
    except StoreError:
        raise CommandError(NOT_NOW) from None


@quiet("house", "show the house in which you are, or one of a window by its number", WORDS,
       example="house")  # fmt: skip
async def _house(houses: Houses, player: Player, call: Call) -> None:
    numbers = _numbers(call)
    await _stored(houses.housing.show(player, numbers[0] if numbers else None))


@quiet("house_ui", "show a house of a window by its number", WORDS, example="house_ui 1")
async def _house_ui(houses: Houses, player: Player, call: Call) -> None:
    numbers = _numbers(call)
    if numbers:
        await _stored(houses.housing.show(player, numbers[0]))


@quiet("house_deposit", "put copper and status points into the deposit of a house of a window",
       WORDS, example="house_deposit 1 500 0")  # fmt: skip
async def _deposit(houses: Houses, player: Player, call: Call) -> None:
    number, coins, status = [*_numbers(call), 0, 0, 0][:3]
    if number and coins <= MOST_COINS and status <= MOST_COINS:
        await _stored(houses.housing.deposit(player, number, coins, status))


@quiet("place_house_item", "place a thing in your house", WORDS, example="place_house_item 1001")
async def _place(houses: Houses, player: Player, call: Call) -> None:
    numbers = _numbers(call)
    if numbers:
        await _stored(houses.furniture.place(player, numbers[0]))


@quiet("move_item", "move a thing in your house: your target, or that of a number", WORDS,
       example="move_item")  # fmt: skip
async def _move_item(houses: Houses, player: Player, call: Call) -> None:
    numbers = _numbers(call)
    await _stored(houses.furniture.move(player, numbers[0] if numbers else None))


@quiet("pickup", "take back a thing in your house: your target, or that of a number", WORDS,
       example="pickup")  # fmt: skip
async def _pick_up(houses: Houses, player: Player, call: Call) -> None:
    numbers = _numbers(call)
    await _stored(houses.furniture.pick_up(player, numbers[0] if numbers else None))


@quiet("leave_house", "leave the house in which you are")
async def _leave(houses: Houses, player: Player, _call: Call) -> None:
    await _stored(houses.housing.leave(player))


Houses.COMMANDS = COMMANDS

# --- functions for scripts

FUNCTIONS: Final = FunctionTable()


@FUNCTIONS("SpawnMove", "S spawn, P player, f distance=500, t kind?")
def move(
    houses: Houses, body: Body | None, player: Body | None, _distance: float, _kind: str
) -> None:
    """Let a player move a thing that stands in a house, if it may change the house."""
    if body is not None and player is not None and player.player is not None:
        houses.furniture.begin_move(player.player, body.spawn)


Houses.FUNCTIONS = FUNCTIONS
