"""The recorded deals, done again here: the same texts and messages in the same order.

Each command of the sections "shop", "bank" and "trade" of ../shared/data/recordings/items-*-deal is
typed here. What differs has a name in `DIFFERENT`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.support.files.recordings import recorded_rows
from tests.support.world.ghost_views import DIALECTS
from tests.support.world.item_recordings import recorded_kinds
from tests.support.world.trade_scenes import TradeScene, player_of
from tests.support.world.worlds import Client

MERCHANT, INVENTORY = "OP_EqUpdateMerchantCmd", "OP_UpdateInventoryMsg"
TRADE = frozenset(("OP_EqUpdatePlayerTradeCmd", "OP_EqUpdateStoreCmd"))
SHOWN = frozenset((
    MERCHANT, INVENTORY, *TRADE, "OP_EqUpdateBankCmd", "OP_EqPlaySoundCmd",
    "OP_EqDisplaySpellFailCmd",
))  # fmt: skip
COMMAND = re.compile(r"([AB]) /(\S+) ?(.*?)\s*(\(.*)?$")
SECTIONS = ("shop", "bank", "trade")
SOLD_OUT = "buy_from_merchant 910010 1"
"""With two clients the limited stock of EQ2Emulator had been bought up for ever."""
DIFFERENT = {
    "summonitem": "EQ2Emulator sends the list of a merchant at every change of things",
    "giveitem": "as summonitem; and the line of this command is our own",
    "inventory": "a bag is shown when its content changes",
    "bank_withdraw 10110": "EQ2Emulator leaves a gold too many in the bank",
}
"""Commands, and lines, whose answers are not compared, with the reason."""


def steps(
    version: int,
) -> Iterator[tuple[str, str, str, list[str], list[str]]]:
    """Yield section, client and line of each command, with the messages and texts that followed."""
    layout = DIALECTS.for_version(version).layout("WS_DisplayText")
    section, client, line = "", "", ""
    names: list[str] = []
    texts: list[str] = []
    for row in recorded_rows(f"items-{version}-deal"):
        if row["k"] == "mark":
            if line:
                yield section, client, line, names, texts
            client, line, names, texts = "", "", [], []
            if row["n"].startswith("--- "):
                section = row["n"].split()[1].rstrip(":")
            elif "uses the verb frommerchant" in row["n"]:
                client, line = "A", "frommerchant"
            elif found := COMMAND.match(row["n"]):
                client, line = found[1], f"{found[2]} {found[3]}".strip()
        elif row["k"] == "app" and row["d"] == "s2c" and row["c"] == client:
            name = row.get("subname") or row["name"]
            if name == "OP_EqDisplayTextCmd":
                shown = layout.decode(bytes.fromhex(row["hex"])[7:])["text"]
                # Two spaces before coins are a fault.
                texts.append(re.sub(" +", " ", shown))
            elif name in SHOWN:
                names.append(name)


def joined(names: list[str]) -> list[str]:
    """Return names without the lists of merchants that come twice: that is a fault."""
    found: list[str] = []
    for name in names:
        if name not in (MERCHANT, INVENTORY) or name not in found:
            found.append("trade" if name in TRADE else name)
    return found


def ours(client: Client, line: str) -> tuple[list[str], list[str]]:
    before = len(client.log)
    texts = client.types(f"/{line}")
    names = [name for name, _ in client.log[before:] if name in SHOWN]
    return joined(names), texts


def translated(line: str, name: str, index: int | None) -> str:
    """Return a line with the numbers of things, and the other player, as this world has them."""
    words = line.split()
    if words[0] == "giveitem":
        words[1] = name
    if words[0] == "start_trade" and words[1] not in ("1", "77777"):
        words[1] = str(index)
    if words[0] in ("sell_to_merchant", "buyback_from_merchant"):
        words[1] = str(int(words[1]) & 0xFFFFFFFF)
    return " ".join(words)


def emptied(client: Client) -> None:
    """Destroy all things, as the recorded client did between sections."""
    for place in range(30):
        client.types(f"/inventory destroy {place}")


@pytest.mark.parametrize("version", [546, 561, 1208, 60114])
def test_the_recorded_deals_are_answered_alike(version: int) -> None:
    scene = TradeScene(version)
    scene.harness.parts.items.kinds = recorded_kinds()
    two = scene.enter(2, version, admin_status=0)
    merchant, banker = scene.merchant(), scene.banker()
    clients = {"A": scene.one, "B": two}
    compared, last = 0, ""
    for section, who, line, names, texts in steps(version):
        if section not in SECTIONS or (line == SOLD_OUT and not names):
            continue
        if section != last:
            emptied(scene.one)
            emptied(two)
            last = section
        client = clients[who]
        command = line.split()[0]
        if command in ("frommerchant", "bank"):
            scene.targets(client, merchant if command == "frommerchant" else banker)
        index = player_of(client).index_of(player_of(two).spawn)
        done = ours(client, translated(line, player_of(two).name, index))
        if command in DIFFERENT or line in DIFFERENT:
            continue
        # In trades the other client had a merchant's window open: see summonitem.
        shown = [name for name in names if section != "trade" or name != MERCHANT]
        assert done == (joined(shown), texts), (section, who, line)
        compared += 1
    assert compared >= 30
