import dataclasses

from emu.config import Config


def test_every_default_passes_its_own_reader() -> None:
    for table in dataclasses.fields(Config):
        inner = getattr(Config(), table.name)
        for item in dataclasses.fields(inner):
            value = getattr(inner, item.name)
            if value is not None and item.name != "url":
                assert item.metadata["reader"](value) == value, f"{table.name}.{item.name}"
