"""The reference of the settings, from their declarations."""

from __future__ import annotations

from emu.config.reference import COLUMNS, INTRODUCTION, reference
from tools.site.markdown import code, page, table


def settings_page() -> str:
    """Return the page of every setting, by table."""
    parts = [
        [
            *(f"## {name} {{#{name}}}", "", subject, ""),
            *table(list(COLUMNS), [(code(key), code(value), *rest) for key, value, *rest in rows]),
        ]
        for name, subject, rows in reference()
    ]
    return page("Settings", [*INTRODUCTION, ""], *parts)
