"""Failures as programs read them: an object like any other answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import click

from emu.errors import EmuError


@contextmanager
def failures_in(style: str) -> Iterator[None]:
    """Print a failure as an object when ``style`` is json; it goes on either way."""
    try:
        yield
    except EmuError as error:
        if style == "json":
            click.echo(json.dumps({"error": str(error)}))
        raise
