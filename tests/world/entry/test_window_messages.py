"""Empty windows that clients above 561 are sent on entry, against recordings of EQ2Emulator.

The recordings are `1096-zonein-alone`, `1208-zonein-alone`, `57080-zonein-alone`,
`60114-zonein-alone` and `64753-zonein-alone`.
"""

from __future__ import annotations

import pytest

from tests.support.files.recordings import recorded_rows
from tests.support.world.ghost_views import dialect
from tests.support.world.worlds import Client, WorldHarness

ENTRIES = [
    (1096, "1096-zonein-alone"), (1208, "1208-zonein-alone"), (57080, "57080-zonein-alone"),
    (60114, "60114-zonein-alone"), (64753, "64753-zonein-alone"),
]  # fmt: skip


def body(client: Client, name: str) -> bytes:
    (payload,) = [data for known, data in client.log if known == name]
    return payload


def entered(version: int, name: str = "Aldana") -> Client:
    return WorldHarness().stand(5, version, name=name, class_=1)


@pytest.mark.parametrize(("version", "name"), ENTRIES)
def test_empty_slots_traits_fog_and_bars_have_the_recorded_bytes(version: int, name: str) -> None:
    rows = [row for row in recorded_rows(name) if row["k"] == "app" and row["d"] == "s2c"]
    table = dialect(version).table
    client = entered(version)
    for message, count in (
        ("OP_UpdateInventoryMsg", 2), ("OP_MapFogDataInitMsg", 1), ("OP_CharacterPet", 1),
        ("OP_DefaultGroupOptionsMsg", 1),
    ):  # fmt: skip
        there = [row["hex"] for row in rows if row["op"] == table.get(message)][:count]
        assert [data.hex() for kind, data in client.log if kind == message] == there
    # A command's payload follows its size and its number: 7 bytes.
    (traits,) = [row["hex"][14:] for row in rows if row.get("sub") == table.number("OP_TraitsList")]
    assert body(client, "OP_TraitsList").hex() == traits


@pytest.mark.parametrize(
    ("version", "recorded"),
    [
        (1208, "1a000000 7f7f7f7f7f7f7f7f7f7f7f608fffffffff26bf746550206f4e36 00000000"),
        (60114, "1a000000 7f7f7f7f7f7f7f7f7f7f7f788fffffffff26bf746550206f4e3e 00000000"),
        (64753, "1b000000 7f7f7f7f7f7f7f7f7f7f7f7f058fffffffff26bf746550206f4e3e 00000000"),
    ],
)
def test_who_has_no_pet_is_sent_the_recorded_bytes(version: int, recorded: str) -> None:
    assert body(entered(version), "OP_CharacterPet") == bytes.fromhex(recorded)


@pytest.mark.parametrize(
    ("version", "name", "recorded"),
    [
        (
            1096,
            "Aldanajeat",
            "01000000 0a00416c64616e616a656174 0001 0000 0000 0000 0000 0000 0000",
        ),
        (1208, "Aldanakmat", "01000000 0a00416c64616e616b6d6174 0001 0000 0000 0000 0000 0000"),
        (60114, "Aldanajuat", "01000000 0a00416c64616e616a756174 0001 0000 0000 0000 0000 0000"),
    ],
)
def test_a_client_is_sent_its_own_title(version: int, name: str, recorded: str) -> None:
    assert body(entered(version, name), "OP_UpdateTitleCmd") == bytes.fromhex(recorded)


def test_the_advancements_of_1096_have_the_recorded_names_and_size() -> None:
    """`1096-zonein-alone`: 154 bytes; what differs there are remains in unnamed fields."""
    client = entered(1096)
    assert len(body(client, "OP_AdventureList")) == 154
    (fields,) = client.decoded("WS_AdventureList")
    assert [(tree["tab_title"], tree["max_aa"]) for tree in fields["aa_array"]] == [
        ("Commoner", 100), ("Fighter", 100), ("Shadows", 70), ("Heroic", 50),
    ]  # fmt: skip


@pytest.mark.parametrize(("version", "name"), [ENTRIES[1], ENTRIES[3]])
def test_advancements_have_the_recorded_trees(version: int, name: str) -> None:
    table = dialect(version).table
    there = next(
        row["hex"] for row in recorded_rows(name)
        if row["k"] == "app" and row["op"] == table.number("OP_AdventureList")
    )  # fmt: skip
    recorded = dialect(version).layout("WS_AdventureList").decode(bytes.fromhex(there))
    (own,) = entered(version).decoded("WS_AdventureList")
    named = ("tab_title", "max_aa", "class_points_spent", "num_node_items")
    assert [[tree[key] for key in named] for tree in own["aa_array"]] == [
        [tree[key] for key in named] for tree in recorded["aa_array"]
    ]
    assert own.get("template_array") == recorded.get("template_array")


def test_trees_are_named_after_the_class_and_the_one_before() -> None:
    for class_, titles in ((3, ["Warrior", "Guardian"]), (44, ["Shaper", "Channeler"])):
        client = WorldHarness().stand(5, 562, class_=class_)
        (fields,) = client.decoded("WS_AdventureList")
        assert [tree["tab_title"] for tree in fields["aa_array"]] == [*titles, "Shadows"]


@pytest.mark.parametrize(("version", "name"), ENTRIES[1:])
def test_zone_info_has_the_recorded_tabs(version: int, name: str) -> None:
    table = dialect(version).table
    there = next(
        row["hex"] for row in recorded_rows(name)
        if row["k"] == "app" and row["op"] == table.number("OP_ZoneInfoMsg")
    )  # fmt: skip
    recorded = dialect(version).layout("WS_ZoneInfo").decode(bytes.fromhex(there))
    (own,) = entered(version).decoded("WS_ZoneInfo")
    assert own["tab_array"] == recorded["tab_array"]
    assert len(own["tab_array"]) == 48


def test_windows_come_in_the_recorded_order() -> None:
    """`1208-zonein-alone`."""
    order = (
        "OP_QuickbarInitMsg", "OP_EqQuestJournalUpdateCmd", "OP_AdventureList",
        "OP_EqCollectionUpdateCmd", "OP_ZoneInfoMsg", "OP_MapFogDataInitMsg",
        "OP_UpdateCharacterSheetMsg", "OP_CharacterPet", "OP_TraitsList", "OP_UpdateSkillBookMsg",
        "OP_TitleUpdateMsg", "OP_UpdateTitleCmd",
    )  # fmt: skip
    names = [name for name in dict.fromkeys(entered(1208).names) if name in order]
    assert tuple(names) == order


def test_old_clients_are_sent_none_of_these_windows() -> None:
    """Recorded of 546 and 561: none of them."""
    later = {"OP_AdventureList", "OP_CharacterPet", "OP_TraitsList", "OP_UpdateTitleCmd"}
    assert not later & {*entered(546).names, *entered(561).names}
