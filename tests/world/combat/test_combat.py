"""The sheets of fighters: one change for several blows, and those that heal."""

from tests.support.world.fights import Fight


def test_blows_share_a_sheet() -> None:
    fight = Fight()
    spawn, harm = fight.player.spawn, fight.harness.parts.minds.harm
    spawn.sheet.health.fill(1000)
    fight.run(1.0)
    before = fight.client.names.count("OP_UpdateCharacterSheetMsg")
    for _ in range(3):
        harm.take_health(fight.player.zone, spawn, None, 5)
    fight.run(0.5)
    assert fight.client.names.count("OP_UpdateCharacterSheetMsg") == before + 1


def test_a_game_master_kills_without_scripts() -> None:
    fight = Fight(admin_status=200)
    crab = fight.creature()
    fight.player.set_target(crab)
    fight.client.types("kill")
    assert crab.hp_percent == 0


def test_a_game_master_kills_itself() -> None:
    """As in items-546-deal: the client reads that its player has killed itself."""
    fight = Fight(admin_status=200)
    fight.client.types("kill self")
    assert fight.player.spawn.hp_percent == 0
    (death,) = fight.client.decoded("WS_HearDeath")
    assert (death["attacker"], death["defender"]) == (1, 1)
    assert fight.client.types("kill all") == ["kill takes nothing or the word self"]
