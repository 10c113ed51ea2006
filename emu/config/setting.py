"""How a setting is declared: a field of a frozen dataclass, with the reader that checks a value."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from emu.config.readers import Reader


def setting(default: Any, reader: Reader, about: str, *, secret: bool = False) -> Any:
    """Declare one setting; `about` is one line for the operator.

    A `secret` one is not shown, and there is a setting ``<key>_file`` beside it.
    """
    return field(default=default, metadata={"reader": reader, "about": about, "secret": secret})
