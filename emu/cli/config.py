"""`emu config`: show every setting with its meaning, or check a file before the server reads it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from emu.cli.common import config_path, load_config
from emu.config import Address, Config, exposed


@click.group()
def config() -> None:
    """Show or check the configuration.

    Example: emu config check
    """


@config.command()
@click.option("--secrets", is_flag=True, help="Show passwords, too.")
@click.pass_context
def show(ctx: click.Context, secrets: bool) -> None:
    """Print the whole configuration as TOML, each setting with its meaning.

    The output is itself a configuration file to start from; passwords are in it only with
    --secrets.

    Example: emu --config emu.toml config show > full.toml
    """
    for line in as_toml(load_config(ctx), secrets=secrets):
        click.echo(line)


@config.command()
@click.pass_context
def check(ctx: click.Context) -> None:
    """Check the configuration; exit status 1 and one line for each problem when it is wrong.

    Files that hold secrets and that everybody can read are told as well.

    Example: emu --config emu.toml config check
    """
    for line in exposed(load_config(ctx), config_path(ctx)):
        click.echo(f"warning: {line}", err=True)
    click.echo("the configuration is good", err=True)


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
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
