"""Events are values; a pass does not show its key to those who print it."""

from emu.client.events import Closed
from emu.client.world import WorldHandoff
from emu.client.world.events import Appeared


def test_events_are_equal_by_value_and_passes_keep_their_key() -> None:
    assert Appeared(5, "Borvik") == Appeared(5, "Borvik")
    assert "4711" not in repr(WorldHandoff("127.0.0.1", 9001, 3, 4711))
    assert Closed("x").reason == "x"
