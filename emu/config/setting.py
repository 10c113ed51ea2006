"""How a setting is declared: a field of a frozen dataclass, with the reader that checks a value."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from emu.config import readers
from emu.config.readers import Reader


def setting(default: Any, reader: Reader, about: str, *, secret: bool = False) -> Any:
    """Declare one setting; `about` is one line for the operator.

    A `secret` one is not shown, and there is a setting ``<key>_file`` beside it.
    """
    return field(default=default, metadata={"reader": reader, "about": about, "secret": secret})


def secret_text(about: str) -> Any:
    """Declare a text that only its owner may know; empty where there is none."""
    return setting("", readers.text(0, 255), about, secret=True)


def file_or_none(about: str) -> Any:
    """Declare a file that need not be named."""
    return setting(None, readers.optional(readers.path), about)


def address_or_none(about: str) -> Any:
    """Declare an address that need not be given."""
    return setting(None, readers.optional(readers.address), about)
