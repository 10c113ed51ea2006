"""The declaration of one key of a TOML table: a field of an attrs class, with its rule."""

from __future__ import annotations

from typing import Any, Final

import attrs

from emu.schema.values import Reader

_RULE: Final = "emu.schema"


@attrs.frozen(kw_only=True)
class Rule:
    """Everything that is known about one key besides its type and default."""

    about: str = ""
    """What it does, in one or two sentences for people."""
    unit: str = ""
    limits: tuple[float, float] | None = None
    """Smallest and largest number; for text the length in characters."""
    most: int | None = None
    """The largest number of items of a list."""
    choices: tuple[str, ...] = ()
    form: Reader | None = None
    """Reads the value (of a list: each item) where type and limits do not say enough."""
    key: str = ""
    """The key in the file, when it is not the attribute's name."""
    live: bool = False
    """A reload applies a new value; otherwise the next start does."""
    secret: bool = False
    """Never shown, neither in errors nor by ``emu config show``."""


def field(default: Any = attrs.NOTHING, about: str = "", **rule: Any) -> Any:
    """Declare a key; without a default it must be present. `rule`: attributes of `Rule`.

    An `attrs.Factory` as default makes a new value for each table.
    """
    return attrs.field(default=default, metadata={_RULE: Rule(about=about, **rule)})


def rule_of(attribute: attrs.Attribute[Any]) -> Rule:
    """Return the rule of an attribute; an empty one when it was declared without `field`."""
    return attribute.metadata.get(_RULE) or Rule()
