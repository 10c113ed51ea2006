"""Lines of sight of pairs, kept for a second."""

from pathlib import Path

import pytest

from emu.ground import view_cache
from emu.ground.ground_map import GroundMap
from emu.ground.view_cache import KEPT, ViewCache
from tests.support.ground.map_bytes import Part, opened, square

GUARD, WOLF = (1, (0.0, 0.0, 0.0)), (2, (9.0, 0.0, 0.0))
BEHIND = (2, (9.0, 9.0, 0.0))


@pytest.fixture
def ground(tmp_path: Path) -> GroundMap:
    return opened(tmp_path, [Part(square((5, 0, -9), (5, 4, 9)), 1, 77)])


def test_an_answer_counts_for_a_second_for_both(ground: GroundMap) -> None:
    views = ViewCache(ground)
    assert not views.sees(GUARD, WOLF, 10.0)
    assert not views.sees(BEHIND, GUARD, 10.9), "kept, although the wolf has moved"
    assert views.sees(BEHIND, GUARD, 10.0 + KEPT)


def test_a_removed_widget_opens_the_view_at_once(ground: GroundMap) -> None:
    views = ViewCache(ground)
    assert not views.sees(GUARD, WOLF, 10.0)
    views.remove_widgets(ground.groups_of([77]))
    assert views.sees(GUARD, WOLF, 10.0)


def test_without_a_map_everybody_sees_everybody() -> None:
    assert ViewCache(None).sees(GUARD, WOLF, 0.0)


def test_pairs_do_not_grow_without_a_limit(
    ground: GroundMap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view_cache, "MOST_PAIRS", 10)
    views = ViewCache(ground)
    for number in range(50):
        views.sees(GUARD, (number, (9.0, 0.0, 0.0)), 0.0)
    assert len(views._known) <= 10
