"""Version rules: the shipped table, and tables that are wrong.

Sources: docs/protocol/login.md, docs/protocol/characters.md.
"""

from __future__ import annotations

from typing import Any

import pytest

from emu.dialects import RuleTable, VersionRules, shipped_rules
from emu.errors import FileFormatError

STEPS: dict[str, list[Any]] = {
    "is_known": [[0, True]],
    "entry_format": [[0, 11]],
    "world_position": [[0, True]],
    "allowed_races": [[0, 1]],
    "sent_max_characters": [[0, 7], [562, 0]],
    "keep_deleted_entries": [[0, True]],
    "play_after_create": [[0, True]],
    "signed_colors": [[0, True]],
    "zone_by_name": [[0, False]],
    "long_log_header": [[0, False]],
    "play_by_name": [[0, True]],
    "bare_create_request": [[0, False]],
    "equipment_slots": [[0, 0]],
}


def rules(version: int) -> VersionRules:
    return shipped_rules().for_version(version)


@pytest.mark.parametrize(
    ("version", "number"), [(546, 11), (561, 11), (562, 5), (886, 5), (887, 6), (64753, 6)]
)
def test_entry_format_steps(version: int, number: int) -> None:
    assert rules(version).entry_format == number


@pytest.mark.parametrize(
    ("version", "mask"),
    [(1211, 0xFFFFFFFF), (1212, 0xFFFFF), (60005, 0xFFFFF), (60006, 0x1FFFFF)],
)
def test_allowed_races_steps(version: int, mask: int) -> None:
    assert rules(version).allowed_races == mask


@pytest.mark.parametrize(
    ("name", "last_old"),
    [
        ("world_position", 1211),
        ("zone_by_name", 1211),
        ("keep_deleted_entries", 561),
        ("play_after_create", 561),
        ("signed_colors", 561),
        ("sent_max_characters", 561),
        ("long_log_header", 545),
        ("play_by_name", 283),
    ],
)
def test_each_rule_turns_round_once_at_its_version(name: str, last_old: int) -> None:
    before = [getattr(rules(version), name) for version in (0, last_old)]
    after = [getattr(rules(version), name) for version in (last_old + 1, 65533)]
    assert before[0] == before[1] != after[0] == after[1]


def test_only_the_old_clients_may_leave_the_placeholder_out() -> None:
    versions = (545, 546, 561, 562)
    assert [rules(version).bare_create_request for version in versions] == [
        False,
        True,
        True,
        False,
    ]


def test_a_table_of_its_own_is_followed() -> None:
    table = RuleTable(STEPS)
    assert table.for_version(561).sent_max_characters == 7
    assert table.for_version(562).sent_max_characters == 0


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"entry_format": []}, "entry_format"),
        ({"entry_format": 5}, "entry_format"),
        ({"entry_format": [[1, 5]]}, "entry_format"),
        ({"entry_format": [[0, 5], [0, 6]]}, "entry_format"),
        ({"entry_format": [[0, True]]}, "entry_format"),
        ({"signed_colors": [[0, 1]]}, "signed_colors"),
        ({"signed_colors": [[0]]}, "signed_colors"),
        ({"no_such_rule": [[0, 1]]}, "no_such_rule"),
    ],
)
def test_a_wrong_table_names_the_rule(change: dict[str, Any], place: str) -> None:
    with pytest.raises(FileFormatError) as caught:
        RuleTable(STEPS | change)
    assert caught.value.place == place


def test_a_missing_rule_is_named() -> None:
    with pytest.raises(FileFormatError, match="play_by_name: the rule is missing"):
        RuleTable({name: steps for name, steps in STEPS.items() if name != "play_by_name"})
