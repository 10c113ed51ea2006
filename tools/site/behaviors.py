"""The reference of behaviors: the shipped ones with their options, the hooks, and the world API."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Final

from emu.world.behaviors.api import Actor, Visitor, ZoneActor
from emu.world.behaviors.hooks import hook_table
from emu.world.behaviors.library import SHIPPED, behaviors_of
from emu.world.behaviors.options import option_rows
from tools.site.markdown import code, page, table

INTRODUCTION = """\
A behavior controls a spawn or a zone. The [zone builder's guide](../guides/zones.md) shows how to
use and write behaviors, and the [limits](../guides/zones.md#limits-of-behaviors) that the server
sets.
"""
OBJECTS: Final = {
    "A spawn's `me`": Actor,
    "A zone's `me`": ZoneActor,
    "A visitor": Visitor,
}
"""The classes of the world API, with the words that the page uses for their objects."""
ABOUT_HOOKS = """\
The methods that a behavior may have. Its class may also have the attributes `near` (15 world units)
and `tick` (1 second).
"""
ABOUT_METHODS = """\
A method that gets a value of the wrong type, NaN or an unknown name raises an exception. If the
behavior does not catch it, the server switches the behavior off until the next reload. Places are
`(x, y, z)` in world units; Y is up. Headings are degrees: 0 looks along -z, 90 along -x, 180 along
+z, 270 along +x. Times are seconds.
"""


def behaviors_page() -> str:
    """Return the whole page."""
    return page(
        "Behaviors",
        [*INTRODUCTION.splitlines(), ""],
        _shipped(),
        ["## Hooks {#hooks}", "", *ABOUT_HOOKS.splitlines(), "", *hook_table(), ""],
        ["## Methods and properties {#methods}", "", *ABOUT_METHODS.splitlines(), ""],
        *(_object(title, kind) for title, kind in OBJECTS.items()),
    )


def shipped_behaviors() -> dict[str, type]:
    """Return the classes of the shipped behaviors, by the names that zone files use."""
    found = {name: kind for module in SHIPPED for name, kind in behaviors_of(module).items()}
    return dict(sorted(found.items()))


def public_members(kind: type) -> dict[str, object]:
    """Return the properties and methods of a class of the world API, by name, as declared."""
    return {
        name: member
        for name, member in vars(kind).items()
        if not name.startswith("_") and (isinstance(member, property) or inspect.isroutine(member))
    }


def _shipped() -> Iterator[str]:
    yield from ("## Shipped behaviors {#shipped}", "")
    for name, kind in shipped_behaviors().items():
        yield from (f"### {name} {{#{name}}}", "", *_text(kind), "")
        near = getattr(kind, "near", None)
        if near is not None:
            yield from (f"`near` is {near:g} units.", "")
        yield from table(
            ["option", "type", "default", "limits", "meaning"],
            [
                (
                    code(row.key),
                    row.type,
                    code(row.default) or "none",
                    placeholders_as_code(f"{row.limits} {row.unit}".strip()),
                    placeholders_as_code(row.about),
                )
                for row in option_rows(kind)
            ],
        )


def placeholders_as_code(text: str) -> str:
    """Return a text with ``{name}`` as code: Markdown would read it as attributes."""
    return re.sub(r"\{\w+\}", r"`\g<0>`", text)


def _object(title: str, kind: type) -> Iterator[str]:
    yield from (f"### {title} {{#{kind.__name__.lower()}}}", "", *_text(kind), "")
    for name, member in public_members(kind).items():
        shown = name if isinstance(member, property) else f"{name}{_signature(member)}"
        yield from (f"#### `{shown}` {{#{kind.__name__.lower()}-{name}}}", "", *_text(member), "")


def _signature(method: object) -> str:
    """Return a method's parameters as a behavior passes them, without `self` and return type."""
    assert callable(method)
    signature = inspect.signature(method)
    kept = [one for name, one in signature.parameters.items() if name != "self"]
    shown = signature.replace(parameters=kept, return_annotation=signature.empty)
    text = re.sub(r": '([^']*)'", r": \1", str(shown))  # annotations are strings
    return re.sub(r"\bPlace\b", "(x, y, z)", text)


def _text(member: object) -> list[str]:
    """Return a docstring's lines; ``double`` backticks become single ones."""
    text = inspect.getdoc(member) or ""
    return text.replace("``", "`").splitlines()
