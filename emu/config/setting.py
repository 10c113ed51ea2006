"""Declaration of a setting: default, help text, limits, unit, and whether a reload applies it.

    link_dead: float = setting(
        120.0,
        "How long a player stays in the world after its client is gone.",
        unit="seconds",
        limits=(0, 3600),
        live=True,
    )

The type decides how a value is read. The reader of TOML files, ``emu config show``, ``emu config
reference`` and the list of settings that a reload applies are all made from these declarations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import attrs

from emu.config.readers import ADDRESS, PATH, Address
from emu.schema import Rule, TableReader, field, limits_of, rule_of

AnyConfig = TypeVar("AnyConfig")
"""A configuration."""
SETTINGS: Final = TableReader(from_text=True, forms={Address: ADDRESS, Path: PATH})
"""Reads the configuration, of which any value may also be the text of a ``--set``."""


def setting(
    default: Any,
    about: str,
    *,
    unit: str = "",
    limits: tuple[float, float] | None = None,
    live: bool = False,
    **rule: Any,
) -> Any:
    """Declare one setting. `rule`: further attributes of `emu.schema.Rule`.

    A `live` setting changes with a reload, any other with the next start.
    """
    return field(default, about, unit=unit, limits=limits, live=live, **rule)


def secret_text(about: str, *, live: bool = False) -> Any:
    """Declare a secret text, empty for none; a setting ``<key>_file`` belongs to it."""
    return setting("", about, limits=(0, 255), live=live, secret=True)


def file_or_none(about: str, *, live: bool = False) -> Any:
    """Declare a file or folder that may be left out."""
    return setting(None, about, live=live)


def address_or_none(about: str) -> Any:
    """Declare an address that may be left out."""
    return setting(None, about)


@attrs.frozen
class Setting:
    """A setting of the configuration: its table, its attribute, and the rule declared for it."""

    table: str
    attribute: attrs.Attribute[Any]

    @property
    def name(self) -> str:
        """The key in its table."""
        return self.attribute.name

    @property
    def key(self) -> str:
        """The full key: ``table.name``."""
        return f"{self.table}.{self.name}"

    @property
    def rule(self) -> Rule:
        """What its declaration says."""
        return rule_of(self.attribute)

    def value(self, config: Any) -> Any:
        """Return the setting's value in a configuration."""
        return getattr(getattr(config, self.table), self.name)

    @property
    def limits(self) -> str:
        """The accepted values, as text."""
        return limits_of(SETTINGS.reader(self.attribute))


def tables_of(kind: Any) -> list[attrs.Attribute[Any]]:
    """Return the tables of a class of configurations, as attributes with their types."""
    # The types are texts until they are resolved, and the readers need the types.
    return [one for one in attrs.fields(attrs.resolve_types(kind)) if one.init]


def settings_of(config: Any) -> Iterator[Setting]:
    """Yield every setting of a configuration, or of its class, in the order of declaration."""
    for table in tables_of(config if isinstance(config, type) else type(config)):
        assert table.type is not None  # noqa: S101  # each is annotated
        for attribute in attrs.fields(attrs.resolve_types(table.type)):
            yield Setting(table.name, attribute)


def with_settings(config: AnyConfig, tables: Mapping[str, Mapping[str, Any]]) -> AnyConfig:
    """Return a configuration with other values, given as table -> key -> value."""
    changed = {
        name: attrs.evolve(getattr(config, name), **values) for name, values in tables.items()
    }
    made: AnyConfig = attrs.evolve(config, **changed)  # type: ignore[misc]  # an attrs class
    kind: Any = type(config)
    for one in attrs.fields(kind):
        if not one.init:  # `evolve` makes these anew
            object.__setattr__(made, one.name, getattr(config, one.name))
    return made
