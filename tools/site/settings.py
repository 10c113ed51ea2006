"""The reference of the settings, from the model that checks them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

from emu.cli.config import as_toml
from emu.config import Config
from tools.site.markdown import code, page, table

INTRODUCTION = [
    "One TOML file holds them all; what it leaves out has the default. `emu config show` prints",
    "the present ones, `emu config check` looks for mistakes, and the server takes",
    "`--set table.key=value` for one of them.",
    "",
]


def settings_page() -> str:
    """Return the page of every table and key with its default and meaning."""
    config = Config()
    defaults = dict(_defaults(config))
    parts = [
        [
            *(f"## {one.name} {{#{one.name}}}", "", _about(getattr(config, one.name)), ""),
            *table(["key", "default", "meaning"], list(_rows(one.name, config, defaults))),
        ]
        for one in fields(config)
    ]
    return page("Settings", INTRODUCTION, *parts)


def _about(section: object) -> str:
    """Return what a table is for: its class's first line behind the table's name."""
    return (type(section).__doc__ or "").splitlines()[0].partition(": ")[2].capitalize()


def _rows(name: str, config: Config, defaults: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    one: Field[Any]
    for one in fields(getattr(config, name)):
        if "about" in one.metadata:
            default = defaults.get(f"{name}.{one.name}", "")
            yield code(f"{name}.{one.name}"), code(default), one.metadata["about"]


def _defaults(config: Config) -> Iterator[tuple[str, str]]:
    """Yield each key and its default as TOML has it; the reader's home folder is ``~``."""
    table_name = ""
    for line in as_toml(config):
        if header := re.fullmatch(r"\[([a-z]+)\]", line):
            table_name = header[1]
        elif setting := re.match(r"#? ?([a-z_]+) = (.*?)(?:  # .*)?$", line):
            value = setting[2].replace(str(Path.home()), "~")
            yield f"{table_name}.{setting[1]}", value
