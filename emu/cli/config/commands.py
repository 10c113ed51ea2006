"""`emu config`: show every setting with its meaning, or check a file before the server reads it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from emu.cli.common import VerbGroup, config_path, load_config
from emu.cli.config.check import look_around
from emu.config import Address, Config, doubts, exposed
from emu.config.load import ENVIRONMENT, SEARCHED
from emu.errors import ConfigError


@click.group(cls=VerbGroup)
def config() -> None:
    """Show or check the configuration.

    Example: emu config check
    """


@config.command()
@click.option("--secrets", is_flag=True, help="Show passwords, too.")
def show(secrets: bool) -> None:
    """Print the whole configuration as TOML, each setting with its meaning.

    The output is itself a configuration file, which means the same wherever it is saved; passwords
    are in it only with --secrets.

    Example: emu --config emu.toml config show > full.toml
    """
    settings = load_config()
    click.echo(f"# {_source()}\n")
    for line in as_toml(settings, secrets=secrets):
        click.echo(line)


@config.command()
def check() -> None:
    """Check the configuration; exit status 1 and one line for each problem when it is wrong.

    Says which file was read, and looks on this machine for what a server would need: the database
    and other files, the certificate, addresses and host names. Files that hold secrets and that
    everybody can read are told as well. Nothing is changed.

    Example: emu --config emu.toml config check
    """
    click.echo(_source(), err=True)
    settings = load_config()
    found = list(look_around(settings))
    light = (one.text for one in found if not one.grave)
    for line in (*exposed(settings, config_path()), *doubts(settings), *light):
        click.echo(f"warning: {line}", err=True)
    grave = [one.text for one in found if one.grave]
    if grave:
        raise ConfigError(grave)
    click.echo("the configuration is good", err=True)


def _source() -> str:
    """Say which file the configuration is from."""
    path = config_path()
    if path is not None:
        return f"configuration file: {path.absolute()}"
    searched = " nor ".join(f"./{one}" for one in SEARCHED)
    return f"no configuration file (neither ${ENVIRONMENT} nor {searched}): all defaults"


def as_toml(settings: Config, *, secrets: bool = False) -> Iterator[str]:
    """Yield the lines of a TOML file that sets every key to its present value.

    A secret is left out, unless `secrets` asks for it and it does not stand in a file of its own.
    """
    for table in dataclasses.fields(settings):
        yield f"[{table.name}]"
        inner = getattr(settings, table.name)
        for item in dataclasses.fields(inner):
            yield f"# {item.metadata['about']}"
            value = getattr(inner, item.name)
            if item.metadata["secret"] and value:
                elsewhere = getattr(inner, f"{item.name}_file") is not None
                if elsewhere or not secrets:
                    hint = f"in {item.name}_file" if elsewhere else "set; see --secrets"
                    yield f"# {item.name} = ({hint})"
                    continue
            yield f"{item.name} = {_toml_value(f'{table.name}.{item.name}', value)}"
        yield ""


def _toml_value(key: str, value: Any) -> str:
    if value is None:
        return '"random"' if key.endswith("crc_seed") else '""'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml_value(key, item) for item in value) + "]"
    text = f"sqlite:{value}" if key == "database.url" else str(value)
    assert isinstance(value, (str, Path, Address))  # noqa: S101
    # A TOML string is written as a JSON string is, but for one more letter that has to be escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
