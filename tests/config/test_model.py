import dataclasses
from pathlib import Path

from emu.config import Config, parse


def test_every_default_passes_its_own_reader() -> None:
    for table in dataclasses.fields(Config):
        inner = getattr(Config(), table.name)
        for item in dataclasses.fields(inner):
            value = getattr(inner, item.name)
            if value is not None and item.name != "url":
                assert item.metadata["reader"](value) == value, f"{table.name}.{item.name}"


def test_the_console_lies_beside_the_database_unless_said_otherwise() -> None:
    config = parse({}, ["database.url=sqlite:/var/lib/eq2emu/emu.sqlite"])
    assert config.console_path == Path("/var/lib/eq2emu/emu.sqlite.console")
    other = parse({}, ["console.path=/run/emu/console"])
    assert other.console_path == Path("/run/emu/console")
