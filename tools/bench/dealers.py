"""Many players in view of each other who dress, buy, sell and pack, each once a second.

The clock is virtual. Messages are made, and sealed for their sessions; the ledger stores each
purchase and sale in a database in memory of this process, with its own work around it.
"""

from __future__ import annotations

import struct
from time import process_time
from typing import Final

from emu.items.held import Where
from emu.session import Role, SessionConfig
from emu.session.codec import MessageCodec
from tests.support.world import item_kinds as kinds
from tests.support.world.trade_scenes import TradeScene, player_of
from tests.support.world.worlds import Client
from tools.bench.figures import Figure, Round
from tools.bench.yardsticks import RC4_KILOBYTE, rc4_loop

PLAYERS: Final = 200
VERSIONS: Final = (546, 561, 1096, 1208, 60114)
SECONDS: Final = 4
PARTS: Final = 10
"""Parts of a second; in each as many players act."""
COINS: Final = 1_000_000
HEAD: Final = 2
"""The slot of the cap."""
AIM: Final = "at most 150,000 us: 15 % of a core"
CONFIG: Final = SessionConfig()
KEY: Final = bytes(range(8))


class Dealer:
    """A player who does one act after the other."""

    def __init__(self, client: Client, number: int) -> None:
        self._client = client
        self._turn = number
        self._commands = client.commands
        self._inventory = player_of(client).holdings.inventory
        client.send = MessageCodec(CONFIG, Role.SERVER, KEY).encode  # type: ignore[method-assign,assignment]

    def act(self) -> None:
        """Do the next act: dress or undress, buy, sell, pack."""
        self._turn += 1
        place = self._inventory.in_list(Where.BAGS)
        if self._turn % 4 == 0:
            caps = [at for at, one in enumerate(place) if one.item_id == kinds.CAP]
            self._type("inventory", f"equip {caps[0]}" if caps else f"unequip {HEAD}")
        elif self._turn % 4 == 1:
            self._type("buy_from_merchant", f"{kinds.PEBBLE} 1")
        elif self._turn % 4 == 2:
            self._type("sell_to_merchant", f"{kinds.PEBBLE} 1")
        else:
            self._type("inventory", "move 0 1 0 1")

    def _type(self, name: str, text: str) -> None:
        body = text.encode()
        number = self._commands.index(name)
        self._client.say("OP_RemoteCmdMsg", struct.pack("<HH", number, len(body)) + body)


class Market:
    """Players around a merchant, whose list they have open."""

    def __init__(self, players: int = PLAYERS) -> None:
        self.scene = TradeScene(VERSIONS[0], coins=COINS)
        shop = self.scene.merchant()
        clients = [
            self.scene.one,
            *(
                self.scene.enter(number, VERSIONS[number % len(VERSIONS)], coins=COINS)
                for number in range(2, players + 1)
            ),
        ]
        for client in clients:
            for kind in (kinds.CAP, kinds.PEBBLE):
                client.types(f"/summonitem {kind}")
            self.scene.targets(client, shop)
            client.types("/frommerchant")
        self.scene.harness.run(2.0)
        self.dealers = [Dealer(client, number // PARTS) for number, client in enumerate(clients)]

    def second(self, *, acts: bool) -> float:
        """Return the seconds of processor time of a second in which each player acts once."""
        began = process_time()
        for _ in range(SECONDS):
            for part in range(PARTS):
                for dealer in self.dealers[part::PARTS] if acts else ():
                    dealer.act()
                self.scene.harness.run(1.0 / PARTS)
        return (process_time() - began) / SECONDS


def report(rounds: int) -> list[Figure]:
    """Measure what the acts of many players cost above their standing."""
    market = Market()
    market.second(acts=True)
    found = []
    for _ in range(rounds):
        acts = market.second(acts=True) - market.second(acts=False)
        found.append(Round(acts * 1e6, rc4_loop().cpu * 1e9))
    what = f"a second of {PLAYERS} players of five versions who dress, buy, sell and pack"
    return [Figure(what, "us", RC4_KILOBYTE, found, AIM)]
