"""A player in its house, in a world with scripts."""

from pathlib import Path
from random import Random

from tests.support.world import item_kinds as kinds
from tests.support.world.house_scenes import HOMES, HouseScene
from tests.support.world.script_scenes import ScriptContent
from tests.support.world.worlds import WorldHarness, bare_atlas

CRATE = 77_004
ROW = (
    f'id = {CRATE}, name = "a crate", furniture = {{where = 0}},'
    ' appearances = {id = 1, model = 1581}, script = "ItemScripts/crate.lua"'
)
PLACED = """
function placed(Item, Player, Spawn)
    SetSpawnHouseScript(Spawn, "SpawnScripts/House/shop.lua")
    SetHouseCharacterID(Spawn, 5)
    SetSpawnHouseScript(Player, "SpawnScripts/House/shop.lua")
end
"""
SHOP = """
function spawn(NPC) AddPrimaryEntityCommand(nil, NPC, "Shop", 5) end
function casted_on(NPC, Spawn, Command)
    if Command == "Shop" then
        SendMessage(Spawn, GetHouseCharacterID(NPC) .. " " .. GetPickupItemID(NPC), "yellow")
        SendMessage(Spawn, GetHouseCharacterID(Spawn) .. " " .. GetPickupItemID(Spawn), "yellow")
        ShowHouseShopMerchant(NPC, Spawn)
        SpawnMove(NPC, Spawn)
        SpawnMove(Spawn, Spawn)
    end
end
"""


class ScriptedHouse(HouseScene):
    """A player in its house, in a world with scripts."""

    def __init__(self, folder: Path, version: int) -> None:
        for name, source in (
            ("ItemScripts/crate.lua", PLACED), ("SpawnScripts/House/shop.lua", SHOP),
        ):  # fmt: skip
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source)
        self.reported: list[str] = []
        content = ScriptContent(folder, Random(1), self.reported.append)
        content.homes = HOMES
        self.harness = WorldHarness(atlas=bare_atlas(), content=content)
        self.harness.kinds = self.harness.parts.items.kinds = kinds.item_kinds([ROW])
        self.travel, self.housing = self.harness.parts.travel, self.harness.parts.housing
        self.client = self.harness.stand(
            5, version, name="Aldana", coins=10_000, status_points=100, admin_status=100
        )
        assert self.client.player is not None
        self.player, self.zone = self.client.player, self.client.player.zone
        self.go(1.0)
        self.buys()
        self.enters()

    def places(self) -> None:
        self.client.types(f"/summonitem {CRATE}")
        self.harness.run(1.0)
        (thing,) = [one for one in self.player.holdings.inventory if one.item_id == CRATE]
        self.client.types(f"/place_house_item {thing.id}")
        self.harness.run(1.0)
        at = self.player.position
        fields = {"spawn_id": 0, "x": at.x, "y": at.y, "z": at.z, "heading": 10.0}
        layout = self.client.dialect.layout("WS_PlaceMoveableObject")
        self.client.say("OP_PositionMoveableObject", layout.encode(fields))
        self.harness.run(1.0)

    def shops(self) -> list[str]:
        """Use the verb that the thing's own script has given it; return what is shown."""
        (crate,) = [one for one in self.player.zone if one.name == "a crate"]
        before = len(self.client.decoded("WS_DisplayText"))
        self.use(crate, "Shop")
        self.harness.run(0.5)
        return [str(one["text"]) for one in self.client.decoded("WS_DisplayText")[before:]]
