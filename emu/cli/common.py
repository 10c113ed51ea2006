"""What several nouns of the `emu` command need: the configuration that stands before the noun."""

from __future__ import annotations

import click

from emu.config import Config, default_path, load


def load_config(ctx: click.Context) -> Config:
    """Return the configuration that ``--config`` names, or the one of the working directory.

    Raises `ConfigError` when it cannot be used.
    """
    given = getattr(ctx.find_root().obj, "config", None)
    return load(given if given is not None else default_path())
