"""Checks for names that look alike: two accounts, or two characters of one world.

New names have letters of one script, but accounts and characters of earlier programs, of imports
and of other worlds kept the names that they had.
"""

# ruff: noqa: RUF001  # the letters that look alike are the subject

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from emu.cli.doctor.findings import Finding, ok, warn
from emu.database import Where
from emu.database.engines import exists
from emu.errors import EmuError
from emu.store import Store
from emu.texts import counted

NAMES: Final = "names"
MOST_SHOWN: Final = 20
"""Maximum number of groups of names that are shown one by one."""
LOOKS_LIKE: Final = str.maketrans(
    # Cyrillic, then Greek, then other letters; Unicode's confusables.txt (UTS 39) pairs them so.
    "АВЕЅІЈКМНОРСТУХаеѕіјорсухѵԁһԛԝ" "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧοανρικυ" "ıɑɡ",
    "ABESIJKMHOPCTYXaesijopcyxvdhqw" "ABEZHIKMNOPTYXoavpiku" "iag",
)  # fmt: skip
"""Letters that look like a Latin one. Full-width ones are made plain by Unicode's NFKC form."""


def skeleton(name: str) -> str:
    """Return a text that names share which look alike."""
    plain = unicodedata.normalize("NFKC", name).translate(LOOKS_LIKE).casefold()
    return unicodedata.normalize("NFKC", plain)


def alike(names: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return the groups of different names that look alike; each name comes with its place.

    Only names of one place are compared: two worlds may have a character of the same name.
    """
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for place, name in names:
        found[place, skeleton(name)].add(name)
    return [sorted(group) for _, group in sorted(found.items()) if len(group) > 1]


def check_names(where: Where) -> Iterator[Finding]:
    """Check the names of accounts and characters; the database's own check reports its faults."""
    if not exists(where):
        return
    try:
        with Store.open_for_reading(where) as store:
            accounts = alike(("", one.name) for one in store.login.accounts.every())
            roster = store.roster.every()
    except EmuError:
        return
    characters = alike((one.world, one.name) for one in roster if not one.deleted)
    if not accounts and not characters:
        yield ok(NAMES, "no two accounts or characters have names that look alike")
    yield from _judge("accounts", accounts, "emu account disable NAME, for the false ones")
    yield from _judge("characters", characters, "emu character rename NAME OTHER")


def _judge(kind: str, groups: list[list[str]], fix: str) -> Iterator[Finding]:
    for group in groups[:MOST_SHOWN]:
        # In ASCII too: on a terminal they look alike.
        shown = ", ".join(name if name.isascii() else f"{name} ({name!a})" for name in group)
        yield warn(NAMES, f"{kind} whose names look alike: {shown}", fix)
    if len(groups) > MOST_SHOWN:
        yield warn(NAMES, f"{counted(len(groups) - MOST_SHOWN, 'more group')} of {kind}", fix)
