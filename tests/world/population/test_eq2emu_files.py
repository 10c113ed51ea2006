import math
import os
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import CommandError
from emu.sqldump.report import ImportReport, Tally
from emu.world.population.eq2emu_files import Document, Fate, fate_of, store, text_of, write

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
PLAIN = TEXTS | st.integers(-(2**63), 2**63 - 1) | st.booleans() | st.floats(allow_nan=False)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=6,
)
TABLE = st.dictionaries(TEXTS, VALUES, max_size=5)


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(["zone", "other"]), TABLE), st.lists(TABLE, max_size=3))
def test_what_is_written_is_read_again(tables: dict[str, Any], rows: list[dict]) -> None:
    document = tables | ({"spawn": rows} if rows else {})
    assert tomllib.loads(text_of(document)) == document


def test_a_fraction_stays_one() -> None:
    back = tomllib.loads(text_of({"zone": {"a": 1.0, "b": math.inf}}))["zone"]
    assert back == {"a": 1.0, "b": math.inf}
    assert isinstance(back["a"], float)


def test_what_becomes_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "sub" / "a.toml"
    one, other = text_of({"zone": {"id": 1}}), text_of({"zone": {"id": 2}})
    assert fate_of(path, one) is Fate.WRITTEN
    write(path, one)
    assert fate_of(path, one) is Fate.SAME
    assert fate_of(path, other) is Fate.WRITTEN
    path.write_text(one + "# mine\n", encoding="utf-8")
    assert fate_of(path, other) is Fate.KEPT
    assert fate_of(path, other, replace=True) is Fate.WRITTEN
    path.write_bytes(b"\xff")
    assert fate_of(path, other) is Fate.KEPT
    assert [one.name for one in path.parent.iterdir()] == ["a.toml"]


def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandError, match="cannot be written"):
        write(tmp_path / "file" / "a.toml", "")
    with pytest.raises(CommandError, match="cannot be read"):
        fate_of(tmp_path, "")


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_trial_counts_and_writes_nothing(tmp_path: Path, dry_run: bool) -> None:
    document = Document("a.toml", {"zone": {"id": 1}}, Counter(zones=3))
    path = tmp_path / "a.toml"
    report = ImportReport({"zones": Tally()})
    store(document, tmp_path, report, dry_run=dry_run, replace=False)
    assert path.exists() is not dry_run
    assert (report.tables["zones"].added, report.tables["zones"].present) == (3, 0)


def test_the_same_file_is_not_written_again_and_counts_as_present(tmp_path: Path) -> None:
    document = Document("a.toml", {"zone": {"id": 1}}, Counter(zones=3))
    store(document, tmp_path, ImportReport({"zones": Tally()}), dry_run=False, replace=False)
    path = tmp_path / "a.toml"
    os.utime(path, (1, 1))
    again = ImportReport({"zones": Tally()})
    store(document, tmp_path, again, dry_run=False, replace=False)
    assert path.stat().st_mtime == 1
    assert (again.tables["zones"].added, again.tables["zones"].present) == (0, 3)
