"""Spells of TOML files: their columns, the values of scripts, and who learns them."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from emu.content import spells
from emu.content.importing import import_content
from emu.content.sources import dump_parts
from emu.content.spells import SpellKinds, TomlSpells, shipped_spells
from emu.errors import FileFormatError
from emu.spells.kinds import Detriment, SpellBook, SpellTarget

ROWS = """
[[spell]]
id = 2000000100
name = "Spark"
target = 1
book = 0
detriment = 2
casting_flags = 900000
script = "Spells/Spark"
[[spell.tier]]
tier = 1
cast_time = 250
recovery = 5
recast = 2.5
duration1 = 240
call_frequency = 40
power = 3.5
values = [7, 1.5, "heal", true]
lines = ["It hurts", "a lot"]
[[spell.tier]]
tier = 4
[[spell.class]]
class = 21
level = 3
classic_level = 2.5

[[spell]]
id = 2000000101
name = "Page"
script = "Spells/Page.lua"
[[spell.tier]]
given_by = "spellscroll"
[[spell.class]]
class = 21
level = 1

[[starting_spell]]
spell = 2000000101
class = 31
"""


def kinds(tmp_path: Path, text: str = ROWS) -> SpellKinds:
    path = tmp_path / "own.toml"
    path.write_text(text, encoding="utf-8")
    return SpellKinds(None, TomlSpells([path]))


def test_a_spell_has_its_columns_in_seconds(tmp_path: Path) -> None:
    spark = kinds(tmp_path).get(2000000100)
    assert spark is not None
    assert (spark.target, spark.book) == (SpellTarget.ONE, SpellBook.SPELLS)
    assert spark.detriment is Detriment.ARCANE
    assert spark.casting_flags == 0
    assert spark.script == "Spells/Spark.lua"
    tier = spark.tiers[1]
    assert (tier.cast_time, tier.recovery, tier.recast) == (2.5, 0.5, 2.5)
    assert (tier.duration, tier.period, tier.cost.power) == (24.0, 4.0, 3.5)
    assert tier.values == (7, 1.5, "heal", 1)
    assert [line.text for line in tier.lines] == ["It hurts", "a lot"]


def test_the_tier_below_stands_for_a_missing_one(tmp_path: Path) -> None:
    spark = kinds(tmp_path).get(2000000100)
    assert spark is not None
    found = [spark.tier(number) for number in (0, 1, 3, 4, 9)]
    assert [one.number for one in found if one is not None] == [1, 1, 1, 4, 4]


def test_classes_learn_what_needs_no_scroll(tmp_path: Path) -> None:
    found = kinds(tmp_path).learned((21, 22))
    assert [(one.spell_id, one.level, one.classic_level) for one in found] == [(2000000100, 3, 2.5)]
    spark = kinds(tmp_path).get(2000000100)
    assert spark is not None
    assert spark.level_for((21,), is_classic=True) == 2.5
    assert spark.level_for((21,), is_classic=False) == 3.0
    assert spark.level_for((1,), is_classic=False) is None


def test_new_characters_have_their_spells(tmp_path: Path) -> None:
    table = kinds(tmp_path)
    assert [one.spell_id for one in table.starting(31, 9)] == [2000000101]
    assert table.starting(1, 9) == ()


def test_without_a_file_there_is_nothing() -> None:
    table = SpellKinds()
    assert table.get(5) is None
    assert table.learned((1,)) == ()
    assert table.listed(7) == ()
    assert table.error_code(546, 43) is None


def test_a_spell_is_read_while_the_spells_of_the_classes_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That takes some tenths of a second, and the world must not wait for a single spell."""
    table, read = kinds(tmp_path), spells._learned_of

    def slowly(*sources: Any) -> Any:
        with ThreadPoolExecutor(1) as other:
            assert other.submit(table.get, 2000000100).result(timeout=60.0) is not None
        return read(*sources)

    monkeypatch.setattr(spells, "_learned_of", slowly)
    assert len(table.learned((21,))) == 1


def test_what_is_read_while_the_files_change_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, read = kinds(tmp_path), spells._learned_of

    def meanwhile(*sources: Any) -> Any:
        monkeypatch.setattr(spells, "_learned_of", read)
        table.reload(None, TomlSpells())
        return read(*sources)

    monkeypatch.setattr(spells, "_learned_of", meanwhile)
    assert table.learned((21,)) == ()


def test_a_reload_reads_again(tmp_path: Path) -> None:
    table = kinds(tmp_path)
    assert table.get(2000000100) is not None
    table.reload(None, TomlSpells())
    assert table.get(2000000100) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[[spell]]\nname = 'x'", "id must be a number"),
        ("[[spell]]\nid = 5\ncolour = 3", "no such key"),
        ("[[spell]]\nid = 5\n[[spell.tier]]\nvalues = [[1]]", "no usable value"),
        ("[[starting_spell]]\nclass = 5", "starting_spell"),
    ],
)
def test_faults_are_reported_with_their_spell(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(FileFormatError, match=reason):
        kinds(tmp_path, text)


def test_the_shipped_file_is_whole() -> None:
    TomlSpells([shipped_spells()])


def test_names_of_pets_come_from_the_content_file(tmp_path: Path) -> None:
    dump, content = tmp_path / "dump.sql", tmp_path / "content.sqlite"
    dump.write_text(
        "INSERT INTO `spawn_pet_names` (`id`,`pet_name`) VALUES (2,'Gabann'), (1,'Gabaner'),"
        f" (3,' '), (4,'{32 * 'x'}');",
        encoding="utf-8",
    )
    import_content(dump_parts([dump]), content)
    table = SpellKinds(content)
    assert table.pet_names() == ("Gabaner", "Gabann")
    table.reload(None)
    assert table.pet_names() == ()
