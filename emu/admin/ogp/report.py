"""What OGP told, as plain values for JSON and for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from enum import IntFlag
from typing import Any

from emu.admin.ogp.body import Content
from emu.admin.ogp.colors import Name


def as_record(content: Content) -> dict[str, Any]:
    """Return a content as JSON has it; sections that were not told are left out."""
    told = {one.name: getattr(content, one.name) for one in fields(content) if one.compare}
    if content.rules is not None:
        told["rules"] = dict(content.rules)
    return {name: _plain(value) for name, value in told.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, Name):
        return value.text
    if isinstance(value, IntFlag):
        return [str(flag.name).lower() for flag in value]
    if hasattr(value, "_asdict"):
        return value._asdict()
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value
