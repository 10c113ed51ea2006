"""All functions for scripts: arguments, results, and which of them this server has."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Final, NamedTuple

from emu.files import data_file
from emu.scripts.signatures import Signature, merged, parse
from emu.world.scripts.functions.every import EVERY
from emu.world.scripts.stubs import stub_names
from emu.world.subjects.every import SUBJECTS

OF_SUBJECTS: Final = tuple(one.FUNCTIONS for one in SUBJECTS)
"""The functions of subjects that have their functions in their own modules."""
_RETURNS: Final = {int: "number", bool: "true or false", str: "text"}


class Known(NamedTuple):
    """One function for scripts."""

    name: str
    signature: Signature
    returns: str
    """In words; empty for handles, lists and nothing."""
    works: bool
    summary: str
    why: str = ""
    """Why it does nothing, of one that does not work."""


@cache
def known_functions() -> dict[str, Known]:
    """Return all functions for scripts by name; those of this server with their own arguments."""
    own = merged((*EVERY, *OF_SUBJECTS))
    arguments = tomllib.loads(data_file("lua", "arguments.toml").read_text(encoding="utf-8"))
    found = {}
    for name, value in sorted(stub_names().items()):
        here = own.get(name)
        signature = here.signature if here is not None else parse(arguments[name])
        summary = here.summary if here is not None else ""
        returns = _RETURNS.get(type(value), "")
        why = "" if here is not None else reasons().get(name, "")
        found[name] = Known(name, signature, returns, here is not None, summary, why)
    return found


@cache
def reasons() -> dict[str, str]:
    """Return why functions do nothing here, by name."""
    table = tomllib.loads(data_file("lua", "reasons.toml").read_text(encoding="utf-8"))
    return {name: one["why"] for one in table["group"] for name in one["functions"]}


class ScriptSubject(NamedTuple):
    """A set of functions that need the same."""

    title: str
    names: tuple[str, ...]


@cache
def subjects() -> tuple[ScriptSubject, ...]:
    """Return the sets of functions; each function is in one."""
    table = tomllib.loads(data_file("lua", "sets.toml").read_text(encoding="utf-8"))
    return tuple(ScriptSubject(one["title"], tuple(one["functions"])) for one in table.values())


def signatures() -> dict[str, Signature]:
    """Return the arguments of all functions by name."""
    return {name: one.signature for name, one in known_functions().items()}


def working() -> frozenset[str]:
    """Return the names of the functions that do something here."""
    return frozenset(name for name, one in known_functions().items() if one.works)
