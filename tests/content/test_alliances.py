"""Friends and enemies of factions."""

from emu.content.alliances import Alliance, alliances_of


def test_rows_of_a_faction_are_joined_and_nobody_is_left_out() -> None:
    rows = [
        {"id": 1, "faction_id": 11, "friend": 0, "enemy": 12},
        {"id": 2, "faction_id": 11, "friend": 13, "enemy": 14},
        {"id": 3, "faction_id": 12, "friend": 0, "enemy": 0},
    ]
    assert alliances_of(rows) == {11: Alliance((13,), (12, 14)), 12: Alliance()}
