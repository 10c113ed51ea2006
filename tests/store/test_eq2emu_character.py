"""One character of EQ2Emulator's world database as one of the built-in world."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.model import Color, Place, Title, WorldCharacter
from emu.sqldump.report import Columns
from emu.store.eq2emu_character import Composed, Facts, compose
from emu.store.eq2emu_rows import BELONGINGS, DumpRow
from emu.usable import usable_world_character
from tests.support.files.eq2emu_players import ANTONIA

ALDANA = ANTONIA["characters"][0]


class Antonica:
    """A built-in world with one zone and one title."""

    name = "Norrath"
    letter_seconds = 86_400.0

    def zone_file(self, zone_id: int) -> str | None:
        return "Antonica" if zone_id == 12 else None

    def zone_description(self, zone_id: int) -> str:
        return "Antonica" if zone_id == 12 else ""

    def start_of(self, character: WorldCharacter) -> tuple[int, Place | None]:
        return 325, (1.0, 2.0, 3.0, float(character.level), 0)

    def title(self, title_id: int) -> Title | None:
        return Title("the Known") if title_id == 5 else None

    def pieces_of(self, collection: int) -> tuple[int, ...]:
        return (80, 81, 82) if collection == 3 else ()

    def has_home(self, home: int) -> bool:
        return home in (5, 6)

    def spell_icon(self, spell_id: int) -> tuple[int, int]:
        return (33, 312) if spell_id == 110014 else (0, 0)


def facts(**tables: Any) -> Facts:
    return Facts(Antonica(), lambda table, number: tables.get(table, {}).get(number))


def made(*rows: tuple[str, Columns], about: Facts | None = None, **changes: Any) -> Composed:
    stored = [DumpRow(table, "line 1", columns) for table, columns in rows]
    return compose({**ALDANA, **changes}, 7, 546, stored, about or facts())


@pytest.mark.parametrize("file", ["antonica", "ANTONICA", ""])
def test_a_zone_with_the_same_number_and_file_keeps_the_place(file: str) -> None:
    found = made(about=facts(zones={12: {"id": 12, "file": file}}))
    assert (found.character.zone_id, found.lost_zone) == (12, "")
    assert found.character.place == (348.5, -9.25, 829.75, 120.0, 0)


def test_a_column_that_a_dump_lacks_has_its_usual_value() -> None:
    """Source: EQ2Emulator's table `characters`: both levels begin at 1."""
    found = made(level=None, tradeskill_level=None, race=None).character
    assert (found.level, found.tradeskill_level, found.race) == (1, 1, 0)


def test_another_zone_under_the_same_number_is_another_zone() -> None:
    found = made(about=facts(zones={12: {"id": 12, "file": "cellar", "name": "Cellar"}}))
    assert found.lost_zone == "Cellar (12)"
    assert (found.character.zone_id, found.character.place) == (325, (1.0, 2.0, 3.0, 37.0, 0))
    assert made(current_zone_id=99).lost_zone == "zone 99"
    strange = facts(zones={99: {"id": 99, "file": "a", "name": "\x1b[31m"}})
    assert made(about=strange, current_zone_id=99).lost_zone == "zone 99"


def test_titles_keep_their_places_when_one_is_unknown() -> None:
    rows = [("character_titles", {"title_id": number}) for number in (99, 70, 5)]
    details = ("character_details", {"prefix_title": 1, "suffix_title": 2})
    about = facts(titles={70: {"title": "Duke", "prefix": 1}})
    found = made(*rows, details, about=about)
    assert found.character.titles == (Title("Duke", is_prefix=True), Title("the Known"))
    assert (found.character.prefix, found.character.suffix) == ("Duke", "the Known")
    assert [reason for _, reason in found.left_out] == [
        "title 99 is unknown; dump the table titles too"
    ]


@pytest.mark.parametrize("place", [-1, 0, 2, 3])
def test_a_title_that_cannot_be_shown_there_is_not_shown(place: int) -> None:
    rows = [("character_titles", {"title_id": number}) for number in (99, 70)]
    details = ("character_details", {"prefix_title": place, "suffix_title": 1})
    about = facts(titles={70: {"title": "Duke", "prefix": 1}})
    found = made(*rows, details, about=about).character
    assert (found.prefix, found.suffix) == ("", "")


@pytest.mark.parametrize(
    ("status", "rank"), [(0, 0), (-1, -1), (-2, -2), (-9, -2), (100, 100), (1000, 1000)]
)
def test_a_rank_or_a_ban_stays(status: int, rank: int) -> None:
    assert made(admin_status=status).character.admin_status == rank


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("name", "Zoë", "other characters than letters A to Z"),
        ("name", "B0rvik", "other characters than letters A to Z"),
        ("name", "Bor vik", "other characters than letters A to Z"),
        ("name", "", "its name is empty"),
        ("level", 0, "level is out of range: 0"),
        ("race", 300, "race is out of range"),
        ("admin_status", 10**6, "admin_status is out of range"),
        ("x", "far", "x is no number"),
    ],
)
def test_a_character_that_cannot_be_one_here_is_refused(
    column: str, value: object, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        made(**{column: value})


def test_sliders_have_the_names_of_create_requests() -> None:
    rows = [("char_colors", {"type": kind, "red": 1, "green": -2, "blue": 3, "signed_value": 1})
            for kind in ("soga_nose_type", "hair_color1", "body_size")]  # fmt: skip
    found = made(*rows).character
    assert set(found.colors) == {"soga_nose", "hair_color1"}
    assert found.colors["soga_nose"] == Color(1, -2, 3, True)
    assert found.appearance["body_size"] == 1
    assert found.appearance["body_size"] == 1


values = st.one_of(st.none(), st.integers(-(2**40), 2**40), st.floats(), st.text(max_size=80))
names = st.sampled_from(sorted({name for table in ANTONIA.values() for row in table
                                for name in row}))  # fmt: skip
rows = st.tuples(st.sampled_from(BELONGINGS), st.dictionaries(names, values))


@given(st.dictionaries(names, values), st.lists(rows, max_size=8))
def test_any_rows_make_a_usable_character_or_none(
    changes: dict[str, Any], own: list[tuple[str, Columns]]
) -> None:
    try:
        found = made(*own, **changes)
    except ValueError:
        return
    assert usable_world_character(found.character) == (found.character, [])


def test_the_last_ten_sold_things_can_be_bought_back() -> None:
    rows = [
        ("character_buyback", {"char_id": 900, "item_id": one, "quantity": 2, "price": 5})
        for one in range(13)
    ]
    found = made(*rows)
    assert [reason for _, reason in found.left_out] == ["it has no item"]
    assert [(one.item_id, one.count, one.most_price) for one in found.sold] == [
        (one, 2, 5) for one in range(3, 13)
    ]
    assert len({one.id for one in found.sold}) == 10


def test_a_recipe_book_is_learned_once() -> None:
    rows = [
        ("character_recipe_books", {"char_id": 900, "recipebook_id": one}) for one in (8, 0, 9, 8)
    ]
    found = made(*rows)
    assert [reason for _, reason in found.left_out] == ["it has no book"]
    assert [one.item_id for one in found.books] == [8, 9]
