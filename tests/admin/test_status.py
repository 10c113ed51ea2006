from dataclasses import replace

from emu.admin.status import ListedWorldStatus, in_short, status_lines
from tests.support.admin.statuses import HARBOR, server_status


def test_a_status_is_one_line() -> None:
    assert in_short(server_status()) == "2 players in 2 zones, 0 worlds"
    alone = server_status(zones=(replace(HARBOR),), players=())
    assert in_short(alone) == "0 players in 1 zone, 0 worlds"


def test_the_lines_name_the_worlds() -> None:
    worlds = tuple(ListedWorldStatus(name, True, False, 0) for name in ("Norrath", "Test"))
    assert "worlds  : Norrath, Test" in status_lines(server_status(worlds=worlds))
    assert "worlds  : none" in status_lines(server_status())
