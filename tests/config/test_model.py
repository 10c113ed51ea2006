from pathlib import Path

import pytest

from emu.config import Config, parse
from emu.config.setting import SETTINGS, settings_of


def test_every_default_passes_its_own_reader() -> None:
    config = Config()
    for one in settings_of(config):
        value = one.value(config)
        if value is not None and one.name != "url":
            given = str(value) if isinstance(value, Path) else value
            assert SETTINGS.reader(one.attribute)(given) == value, one.key


def test_the_console_lies_beside_the_database_unless_said_otherwise() -> None:
    config = parse({}, ["database.url=sqlite:/var/lib/eq2emu/emu.sqlite"])
    assert config.console_path == Path("/var/lib/eq2emu/emu.sqlite.console")
    other = parse({}, ["console.path=/run/emu/console"])
    assert other.console_path == Path("/run/emu/console")


@pytest.mark.usefixtures("homeless")
def test_a_user_without_a_home_folder_has_the_folder_of_services() -> None:
    assert Config().database.path == Path("/var/lib/eq2emu/emu.sqlite")
    config = parse({"database": {"url": "sqlite:/srv/emu.sqlite"}})
    assert config.database.path == Path("/srv/emu.sqlite")
