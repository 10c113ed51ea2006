"""A damaged content file: a zone opens without the rows that are wrong, and one line names them."""

from pathlib import Path

import pytest

from emu.content.checks import loose_rows, wrong_values
from emu.content.file import ContentFile
from emu.content.importing import import_content
from emu.content.sources import dump_parts
from emu.errors import FileFormatError
from emu.world.population.reading import ServedZone, read_zone_content
from tests.support.content.damages import damage
from tests.support.content.dumps import meadow, write_dumps

ZONE = 9


@pytest.fixture
def path(tmp_path: Path) -> Path:
    target = tmp_path / "content.sqlite"
    import_content(dump_parts([write_dumps(tmp_path / "dumps", meadow())]), target)
    return target


def read(path: Path) -> ServedZone:
    served = read_zone_content(path, ZONE)
    assert served is not None
    return served


DAMAGES = {
    "a text that is none": ("UPDATE spawns SET name = CAST(x'ff41' AS TEXT)", ""),
    "equipment of no slot": ("UPDATE equipment SET slot = 99", "table equipment"),
    "equipment of a word": ("UPDATE equipment SET slot = 'x'", "table equipment"),
    "a place that is no number": ("UPDATE placements SET x = 'left'", "table placements"),
    "an entry without a spawn": ("UPDATE entries SET spawn_id = 'x'", "table entries"),
    "a group without a set": ("DELETE FROM set_groups", "table set_groups"),
    "bytes for a name": ("UPDATE spawns SET name = x'00ff'", "table spawns"),
    "bytes for a number": ("UPDATE appearances SET red = x'00'", "table appearances"),
}


@pytest.mark.parametrize(("statement", "named"), DAMAGES.values(), ids=DAMAGES)
def test_a_zone_with_a_bad_row_opens_without_it(path: Path, statement: str, named: str) -> None:
    served = read(damage(path, statement))
    if named:
        assert str(path) in served.faults[0]
        assert named in served.faults[0]
    assert all("\n" not in fault for fault in served.faults)


def test_the_line_names_file_table_row_and_column(path: Path) -> None:
    whole = read(path)
    assert whole.content.placements
    number = whole.content.placements[0].id
    served = read(damage(path, "UPDATE equipment SET slot = 'x'"))
    (fault,) = served.faults
    assert fault.startswith(f"{path}: table equipment, row ")
    assert fault.endswith(": slot has a wrong value")
    assert served.content.placements[0].id == number


def test_the_check_reads_a_damaged_text(path: Path) -> None:
    damage(path, "UPDATE zones SET name = CAST(x'ff' AS TEXT)", "UPDATE equipment SET slot = 99")
    found = {(one.table, one.reason) for one in wrong_values(path)}
    assert ("zones", "name is not UTF-8") in found
    assert ("equipment", "slot is out of its range") in found
    assert isinstance(loose_rows(path), list)


def test_a_table_that_is_gone_is_one_line(path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"zone 9 cannot be read .*emu content import"):
        read(damage(path, "DROP TABLE entries"))
    with ContentFile(path) as file:
        assert file.is_careful is False
