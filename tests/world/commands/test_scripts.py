"""Commands about the errors of scripts, in a world without any."""

from emu.commands.registry import MASTER
from tests.support.world.worlds import WorldHarness


def test_only_game_masters_ask_about_scripts() -> None:
    harness = WorldHarness()
    player = harness.stand(5)
    assert player.types("/script errors") != ["no script has failed"]
    master = harness.stand(6, name="Borvik", admin_status=MASTER)
    assert master.types("/script errors") == ["no script has failed"]
    (line,) = master.types("/luadebug")
    assert line == "You are shown the errors of scripts for 60 seconds."
