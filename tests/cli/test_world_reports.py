"""`emu world reports`: what players reported is shown, in short or whole."""

import csv
import io
from pathlib import Path

import pytest

from emu.store import Store
from tests.support.running.command_line import CommandLine

TEXT = "so, it\nis"


@pytest.fixture
def emu(tmp_path: Path) -> CommandLine:
    made = CommandLine(tmp_path)
    for name in ("Antonia", "Lucan"):
        made.good("world", "add", name, "--account", name, "--password", "secret")
    with Store.open(made.database) as store:
        for world, summary in ((1, "stuck in a wall"), (2, "no quests"), (1, "a hole")):
            fields: dict[str, str | int] = {
                "player": "Aldana", "summary": summary, "description": TEXT, "zone_id": 12,
            }  # fmt: skip
            store.login.reports.add_bug_report(world, 5, fields, 1_700_000_000.0)
    return made


def test_a_table_says_who_reported_what(emu: CommandLine) -> None:
    reported = emu.good("world", "reports").stdout
    assert "stuck in a wall" in reported
    assert "2023-11-14T22:13:20Z" in reported
    assert "so, it" not in reported


def test_programs_get_all_of_it(emu: CommandLine) -> None:
    rows = emu.rows("world", "reports")
    assert [(row["world"], row["summary"]) for row in rows] == [
        ("Antonia", "stuck in a wall"), ("Lucan", "no quests"), ("Antonia", "a hole"),
    ]  # fmt: skip
    assert [rows[0][name] for name in ("description", "zone_id", "account_id")] == [TEXT, 12, 5]
    exported = emu.good("world", "reports", "--format", "csv").stdout
    assert next(csv.DictReader(io.StringIO(exported)))["description"] == TEXT


def test_those_of_one_world_and_the_newest_of_them(emu: CommandLine) -> None:
    chosen = emu.rows("world", "reports", "antonia")
    assert [row["summary"] for row in chosen] == ["stuck in a wall", "a hole"]
    assert [row["id"] for row in emu.rows("world", "reports", "antonia", "--last", "1")] == [3]
    assert "no world 'Nowhere'" in emu.refused("world", "reports", "Nowhere")


def test_those_of_a_world_that_is_gone_are_kept(emu: CommandLine) -> None:
    emu.good("world", "remove", "Lucan")
    assert [row["world"] for row in emu.rows("world", "reports")] == ["Antonia", "", "Antonia"]
