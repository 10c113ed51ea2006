"""The settings as text for people: a commented TOML file, and the reference in Markdown.

Both are made from the declarations of the settings, so they cannot differ from what is accepted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from textwrap import wrap
from typing import Any, Final, get_origin

from emu.config.model import Config
from emu.config.setting import Setting, settings_of
from emu.schema import Form

COLUMNS: Final = ("key", "default", "what it does", "unit", "limits", "applied by")
"""Columns of the reference."""
WIDTH: Final = 98
"""Characters of a line of comment."""


def as_toml(config: Config, *, secrets: bool = False) -> Iterator[str]:
    """Yield the lines of a TOML file that sets every key to its present value.

    A secret is left out, unless `secrets` is true and the secret has no file of its own.
    """
    for table, settings in groupby(settings_of(config), lambda one: one.table):
        yield f"[{table}]"
        for one in settings:
            yield from (f"# {line}" for line in wrap(_comment(one), WIDTH))
            yield _assignment(one, config, secrets=secrets)
        yield ""


def _comment(one: Setting) -> str:
    """Return what a setting does, with its limits, its unit, and whether a reload applies it."""
    measure = " ".join(part for part in (one.limits, one.rule.unit) if part)
    facts = [part for part in (measure, "applied by a reload" if one.rule.live else "") if part]
    return f"{one.rule.about} ({'; '.join(facts)})" if facts else one.rule.about


def reference(config: Config | None = None) -> Iterator[tuple[str, str, list[tuple[str, ...]]]]:
    """Yield each table's name, subject and rows; a row has a text for each of `COLUMNS`.

    The defaults are those of `config`, of which the home folder is shown as ``~``.
    """
    config = config or Config()
    for table, settings in groupby(settings_of(config), lambda one: one.table):
        rows: list[tuple[str, ...]] = [
            (
                one.key,
                _without_home(toml_value(one, one.value(config))),
                one.rule.about,
                one.rule.unit,
                one.limits,
                "reload" if one.rule.live else "restart",
            )
            for one in settings
        ]
        yield table, _subject(getattr(config, table)), rows


def _without_home(text: str) -> str:
    """Return a default without the home folder of the user who runs this."""
    try:
        home = Path.home()
    except RuntimeError:
        return text
    # With the slash: the home folder of a container's user may be the root.
    return text.replace(f"{home}/", "~/")


def reference_page() -> Iterator[str]:
    """Yield the lines of the reference as Markdown."""
    yield "# Settings"
    yield ""
    yield from INTRODUCTION
    for table, subject, rows in reference():
        yield ""
        yield f"## {table} {{#{table}}}"
        yield ""
        yield subject
        yield ""
        yield "| " + " | ".join(COLUMNS) + " |"
        yield "|" + " --- |" * len(COLUMNS)
        for key, default, *others in rows:
            cells = [f"`{key}`", f"`{default}`", *(_cell(text) for text in others)]
            yield "| " + " | ".join(cells) + " |"


INTRODUCTION: Final = (
    "All settings are in one TOML file. A setting that the file leaves out has its default.",
    "`emu config show` prints the present values, and `emu config check` looks for faults.",
    "`--set table.key=value` sets one value for one run of the server.",
    "",
    "The last column says when a changed value takes effect: after a reload (SIGHUP, or the",
    "command `reload`), or after a restart.",
)


def _subject(table: object) -> str:
    """Return the subject of a table: the first line of its class, without the table's name."""
    text = (type(table).__doc__ or "").splitlines()[0].partition(": ")[2]
    return text[:1].upper() + text[1:]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _assignment(one: Setting, config: Config, *, secrets: bool) -> str:
    value = one.value(config)
    if one.rule.secret and value:
        if getattr(getattr(config, one.table), f"{one.name}_file") is not None:
            return f"# {one.name} = (in {one.name}_file)"
        if not secrets:
            return f"# {one.name} = (set; see --secrets)"
    return f"{one.name} = {toml_value(one, value)}"


def toml_value(one: Setting, value: Any) -> str:
    """Return a setting's value as TOML."""
    # By the type: a color change is a tuple, too, but one value.
    if get_origin(one.attribute.type) is tuple:
        return "[" + ", ".join(_scalar(one, item) for item in value) + "]"
    return _scalar(one, value)


def _scalar(one: Setting, value: Any) -> str:
    form = one.rule.form
    if isinstance(form, Form) and form.write is not None:
        value = form.write(value)
    if value is None:
        # TOML has no null; the readers take an empty text for none.
        return '""'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    # TOML escapes a string as JSON does, but also requires it for the letter DEL.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
