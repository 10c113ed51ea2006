"""Functions for the things that stand in houses.

Source: docs/guides/houses.md#scripts.
"""

from __future__ import annotations

from typing import Final

from emu.scripts.signatures import FunctionTable
from emu.world.scripts.bodies import Body, FurnitureFacts
from emu.world.scripts.host import Scripts

HOUSES: Final = FunctionTable()
LONGEST_SCRIPT: Final = 255
NO_GOODS: Final = "Nothing is for sale here."


def _facts(body: Body | None) -> FurnitureFacts | None:
    return body.home.furniture.get(body.spawn.id) if body is not None else None


@HOUSES("SetSpawnHouseScript", "S spawn, t script")
def set_script(scripts: Scripts, body: Body | None, script: str) -> None:
    """Give a thing that stands in a house a script of its own, and call its function `spawn`."""
    if body is not None and _facts(body) is not None:
        body.script = script[:LONGEST_SCRIPT]
        scripts.call(body, "spawn")


@HOUSES("SetHouseCharacterID", "S spawn, u character")
def set_owner(_scripts: Scripts, body: Body | None, character: int) -> None:
    """Note to which character a thing belongs that stands in a house, until the house ends."""
    facts = _facts(body)
    if facts is not None:
        facts.owner_id = character


@HOUSES("GetHouseCharacterID", "S spawn")
def get_owner(_scripts: Scripts, body: Body | None) -> int:
    """Return the character that a script has noted for a thing in a house; 0 without one."""
    facts = _facts(body)
    return facts.owner_id if facts is not None else 0


@HOUSES("GetPickupItemID", "S spawn")
def get_item(_scripts: Scripts, body: Body | None) -> int:
    """Return the kind of a thing that stands in a house; 0 for any other spawn."""
    facts = _facts(body)
    return facts.item_id if facts is not None else 0


@HOUSES("ShowHouseShopMerchant", "S spawn, P player")
def show_shop(scripts: Scripts, body: Body | None, player: Body | None) -> None:
    """Say that nothing is for sale: houses have no market here."""
    who = player.player if player is not None else None
    if body is not None and who is not None and scripts.may_send():
        scripts.chat.line(who, NO_GOODS, "error")
