import tomllib

import pytest

from emu.config import Config, parse
from emu.config.reference import COLUMNS, as_toml, reference, reference_page
from emu.config.setting import settings_of


def test_the_reference_has_a_row_for_every_setting() -> None:
    rows = {row[0]: row for _, _, rows in reference() for row in rows}
    assert list(rows) == [one.key for one in settings_of(Config)]
    assert all(len(row) == len(COLUMNS) and row[2] for row in rows.values())
    assert rows["world.link_dead"][1] == "120.0"
    assert rows["world.link_dead"][3:] == ("seconds", "0 to 3600", "reload")
    assert rows["world.name"][5] == "restart"
    assert rows["database.url"][1].startswith('"sqlite:')


def test_numbers_of_the_reference_have_limits() -> None:
    for one in settings_of(Config):
        if one.attribute.type in (int, float):
            assert " to " in one.limits, one.key


def test_the_page_is_markdown() -> None:
    lines = list(reference_page())
    assert lines[0] == "# Settings"
    assert "## world {#world}" in lines
    assert any(line.startswith('| `login.listen` | `"127.0.0.1:9100"` |') for line in lines)
    assert all(line.count(" | ") >= 5 for line in lines if line.startswith("| `"))


def test_the_file_says_what_a_setting_does_and_reads_back() -> None:
    # The default database is in the home folder, whose name may be long.
    url = "database.url=sqlite:/var/lib/emu/emu.sqlite"
    values = ["login.crc_seed=7", "world.motd=Hail | you", "ogp.host_name_colors=0:1"]
    config = parse({}, [*values, url])
    lines = list(as_toml(config))
    assert parse(tomllib.loads("\n".join(lines))) == config
    assert max(map(len, lines)) <= 100
    at = lines.index("link_dead = 120.0")
    assert "(0 to 3600 seconds; applied by a reload)" in " ".join(lines[at - 2 : at]).replace(
        "# ", ""
    )


@pytest.mark.parametrize(
    ("home", "shown"),
    [
        ("/home/alice", "sqlite:~/.local/state/eq2emu/emu.sqlite"),
        ("/", "sqlite:/.local/state/eq2emu/emu.sqlite"),
    ],
)
def test_a_default_does_not_name_the_home_folder(
    monkeypatch: pytest.MonkeyPatch, home: str, shown: str
) -> None:
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv("HOME", home)
    rows = {row[0]: row for _, _, rows in reference() for row in rows}
    assert rows["database.url"][1] == f'"{shown}"'


@pytest.mark.usefixtures("homeless")
def test_a_user_may_have_no_home_folder() -> None:
    rows = {row[0]: row for _, _, rows in reference() for row in rows}
    assert rows["database.url"][1] == '"sqlite:/var/lib/eq2emu/emu.sqlite"'
