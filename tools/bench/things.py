# ruff: noqa: SLF001  # it measures parts of acts
"""Things: a move with its message, a merchant's long list, and a roll of loot.

The clock is virtual, and messages are made but not sealed. The store accepts everything at once:
the server's own stores in another thread, what a player does within 0.2 s together.
"""

from __future__ import annotations

from time import process_time

from emu.content.trade import Ware
from emu.ledger import Moved, Movement, Outcome
from emu.rules.loot import LootDrop, LootTable
from emu.times import Moment
from emu.world.actors.spawn import Spawn
from emu.world.items.visits import Window
from tests.support.world import item_kinds as kinds
from tests.support.world.trade_scenes import SHOP, TradeScene, player_of
from tools.bench import dealers
from tools.bench.figures import Figure, Round
from tools.bench.yardsticks import RC4_KILOBYTE, rc4_loop

MOVES = 500
LONG = 973
"""Wares of the longest list of the public content."""
BAGS = 4
"""Bags of six places that the player has, with a thing in each place."""
VERSIONS = (546, 1208, 60114)
ROLLS = 2000
TABLES, DROPS = 4, 40
"""Loot tables of a creature, of 5 to 9 coins and twice one of so many things; usual numbers."""
AIM_MOVE, AIM_LIST, AIM_ROLL = "at most 60 us", "at most 5 ms", "at most 30 us"


class _Accepting:
    """A store of the ledger that does nothing."""

    async def move_later(self, movement: Movement, moment: Moment) -> Moved:
        del movement, moment
        return Moved(Outcome.DONE, ())


def _seal(opcode: int, payload: bytes) -> None:
    del opcode, payload


def _scene(version: int) -> TradeScene:
    """Return a player with full bags, beside a merchant with a long list."""
    rows = [
        f'id = {3_000_000 + one}, name = "Ware Number {one}", icon = {one % 300}, tier = 3,'
        f" price = {one + 1}, stack = 20"
        for one in range(LONG)
    ]
    scene = TradeScene(version)
    scene.harness.kinds = scene.harness.parts.items.kinds = kinds.item_kinds(rows)
    scene.harness.trade._wares[SHOP] = tuple(
        Ware(3_000_000 + one, None, 0, 0, ()) for one in range(LONG)
    )
    for _ in range(BAGS):
        scene.one.types(f"/summonitem {kinds.SATCHEL}")
    for _ in range(BAGS * 6 + 1):
        scene.one.types(f"/summonitem {kinds.SWORD}")
    scene.merchant()
    scene.one.types("/frommerchant")
    scene.harness.parts.items.ledger._store = _Accepting()  # type: ignore[assignment]
    scene.one.send = _seal  # type: ignore[method-assign]
    return scene


def _move(scene: TradeScene) -> float:
    """Move the thing that lies in no bag to and fro."""
    acts, player = scene.harness.parts.item_acts, player_of(scene.one)
    place = BAGS * 7
    began = process_time()
    for number in range(MOVES):
        acts._move(player, [place, 4 + number % 2, 0, 1])
    return (process_time() - began) / MOVES


def _list(scene: TradeScene) -> float:
    """Measure a list that no player of this version and level has seen yet."""
    merchants, player = scene.harness.parts.trading.merchants, player_of(scene.one)
    visit = merchants._visits.of(player, Window.SHOP)
    assert visit is not None
    merchants._lists._payloads.clear()
    began = process_time()
    merchants._send_wares(player, visit)
    return process_time() - began


def _creature(scene: TradeScene) -> Spawn:
    """Return a creature with tables of which each roll draws from uneven weights."""
    spawn = scene.foe("a straw man", *[(kinds.MARBLE, 1)] * TABLES)
    drops = tuple(
        LootDrop(3_000_000 + one, 1, is_worn=False, weight=1.0 + one, unless_quest=0)
        for one in range(DROPS)
    )
    for number in spawn.look.dealing.loot:
        table = LootTable(number, "", (5, 9), 18.0, 2, 50.0, drops)
        scene.harness.trade._tables[number] = table
    return spawn


def _roll(scene: TradeScene, spawn: Spawn) -> float:
    loots, zone = scene.harness.parts.trading.loots, player_of(scene.one).zone
    began = process_time()
    for _ in range(ROLLS):
        loots.vanished(zone, spawn)
        loots.carried(zone, spawn)
    return (process_time() - began) / ROLLS


def report(rounds: int) -> list[Figure]:
    """Move a thing, and open a list, for clients of three versions; roll loot."""
    figures = []
    for version in VERSIONS:
        scene = _scene(version)
        moves = [Round(_move(scene) * 1e6, rc4_loop().cpu * 1e9) for _ in range(rounds)]
        lists = [Round(_list(scene) * 1e6, rc4_loop().cpu * 1e9) for _ in range(rounds)]
        what = f"a move of a thing with its message, version {version}"
        figures.append(Figure(what, "us", RC4_KILOBYTE, moves, AIM_MOVE))
        what = f"the first list of {LONG} wares, version {version}"
        figures.append(Figure(what, "us", RC4_KILOBYTE, lists, AIM_LIST))
    scene = TradeScene()
    spawn = _creature(scene)
    rolls = [Round(_roll(scene, spawn) * 1e6, rc4_loop().cpu * 1e9) for _ in range(rounds)]
    figures.append(Figure("a roll of loot", "us", RC4_KILOBYTE, rolls, AIM_ROLL))
    return [*figures, *dealers.report(rounds)]
