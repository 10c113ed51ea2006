"""The windows of houses: what a house costs, a house with its books, and who can be visited.

Source: docs/guides/houses.md#windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from emu.content.homes import EVIL, GOOD, HouseKind
from emu.houses import MOST_LISTED, AccessLevel, House, HouseBooks
from emu.times import Moment
from emu.world.actors.player import Player

PURCHASE: Final = "WS_PlayerHousePurchase"
HOUSE: Final = "WS_PlayerHouseBaseScreen"
VISIT: Final = "WS_DisplayVisitScreen"
ACCESS: Final = "WS_UpdateHouseAccessDataMsg"
GUEST: Final = "WS_PlayerHouseAccessUpdateMsg"
OWNED: Final = "WS_CharacterHousingList"
_U32: Final = 0xFFFFFFFF
_U64: Final = 0xFFFFFFFFFFFFFFFF
_ALIGNMENTS: Final = {GOOD: "Good", EVIL: "Evil"}


def requirement(home: HouseKind, *, asks_alignment: bool) -> str:
    """Return the line about what the buyer of a house has to be; empty if anybody can buy it."""
    asked = _ALIGNMENTS.get(home.alignment) if asks_alignment else None
    text = f"You must be of {asked} alignment" if asked else ""
    if home.guild_level:
        text += (
            f", and a guild level of {home.guild_level}" if text
            else f"Requires a guild of level {home.guild_level} or above"
        )  # fmt: skip
    return f"{text} in order to purchase a home within the {home.name}." if text else ""


def send_purchase(player: Player, home: HouseKind, text: str, *, may_buy: bool) -> None:
    """Show a player what a house costs; `text` says what its buyer has to be."""
    player.client.send(
        PURCHASE,
        {
            "house_name": home.name, "house_id": home.id, "spawn_id": 0,
            "purchase_coins": home.cost.coins, "purchase_status": home.cost.status,
            "upkeep_coins": home.upkeep.coins, "upkeep_status": home.upkeep.status,
            "vendor_vault_slots": home.vault_slots, "additional_reqs": text,
            "enable_buy": int(may_buy),
        },
    )  # fmt: skip


def send_owned(player: Player, houses: Sequence[tuple[House, HouseKind, str]]) -> None:
    """Send a player the list of its houses, each with the name of its zone.

    Clients above 561 look there for the house of a window; others have no such list.
    """
    rows = [
        {
            "house_id": house.id, "zone": zone, "house_city": home.name,
            "house_description": title(house, home), "index": index, "unknown2": [_U32] * 3,
        }
        for index, (house, home, zone) in enumerate(houses)
    ]  # fmt: skip
    player.client.send(OWNED, {"house_array": rows})


def title(house: House, home: HouseKind) -> str:
    """Return the name of a house with its owner."""
    return f"{house.owner}'s {home.name}"


def send_house(
    player: Player, house: House, home: HouseKind, books: HouseBooks, *, number: int,
    level: AccessLevel, moment: Moment, is_inside: bool,
) -> None:  # fmt: skip
    """Show a player the window of a house.

    `number` is the door's for the client. Up to 561 it stands for the house in what the client
    sends back.
    """
    due = max(0, int(house.upkeep_due - moment))
    if not is_inside:
        # Without it clients above 561 do not let their player enter; others do not have it.
        player.client.send(
            ACCESS,
            {"success": _U32 if due else 0, "house_id": _U64, "unknown2": _U32, "unknown3": _U32},
        )
    # The books are for those who look after the house.
    shown = _rows(books, house.public_level) if level >= AccessLevel.TRUSTEE else {}
    player.client.send(
        HOUSE,
        {
            "house_id": house.id, "character_id": player.id, "spawn_id": number,
            "house_name": title(house, home), "zone_name": home.name,
            "upkeep_cost_coins": home.upkeep.coins, "upkeep_cost_status": home.upkeep.status,
            "escrow_balance_coins": house.coins, "escrow_balance_status": min(house.status, _U32),
            "upkeep_due": min(due, _U32), "privlage_level": int(level), "house_type": 0,
            "inside_house": int(is_inside), "unknown3": int(bool(shown)), **shown,
        },
    )  # fmt: skip


def _rows(books: HouseBooks, public: AccessLevel) -> dict[str, Any]:
    return {
        "public_access_level": int(public),
        "access_array": [
            {"access_id": one.char_id, "access_name": one.name, "access_level": int(one.level)}
            for one in books.guests[:MOST_LISTED]
        ],
        "deposit_array": [
            {
                "deposit_name": one.name, "deposit_total_coin": one.coins,
                "deposit_total_status": min(one.status, _U32),
                "deposit_last_coin": one.last_coins,
                "deposit_last_status": min(one.last_status, _U32),
                "deposit_time_stamp": int(one.moment),
            }
            for one in books.deposits[:MOST_LISTED]
        ],
        "history_array": [
            {
                "history_name": one.name, "history_coins": one.coins,
                "history_status": min(one.status, _U32), "history_time_stamp": int(one.moment),
                "history_reason": one.reason,
            }
            for one in books.history[:MOST_LISTED]
        ],
    }  # fmt: skip


def send_visits(
    player: Player, home: HouseKind, houses: Sequence[tuple[House, AccessLevel]], moment: Moment
) -> None:
    """Show a player who owns a house of the content file, to visit one of them."""
    rows = [
        {
            "house_id": house.id, "house_owner": house.owner, "house_location": home.name,
            "house_zone": player.zone.definition.name, "access_level": int(level),
            "visit_flag": int(not house.is_paid(moment)),
        }
        for house, level in houses
    ]  # fmt: skip
    player.client.send(VISIT, {"visithouse_array": rows})


def send_guest(player: Player, char_id: int, name: str, level: AccessLevel | None) -> None:
    """Show a player the new level of a guest; None: it has none of its own any more."""
    fields: dict[str, Any] = {"unique_id": char_id, "access_delete": int(level is None)}
    if level is not None:
        fields |= {"access_name": name, "access_level": int(level)}
    player.client.send(GUEST, fields)
