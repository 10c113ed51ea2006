"""What names and numbers of opcode tables mean beyond their letters and digits.

Owns the rules for place-holders, for names cut by an old column width, for renamed messages, and
for which of two names of one number is shown. Facts: docs/protocol/opcodes.md#data-sets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from emu.opcodes.rows import OpcodeRow

SENTINELS = frozenset({999, 9999, 10000, 65535})
"""Numbers that people write for "this client does not have the message"."""
FIRST_PLACEHOLDER = 9999
"""From here up no number was ever seen on the wire; the largest real ones stay below 900."""
FIRST_DEAD_NUMBER = 1000
"""A number from here up that several names share is a place-holder of a group of dead names."""
DEAD_GROUP = 3
"""So many names under one such number make a dead group."""
CUT_LENGTH = 33
"""Characters of the old name column; longer names were cut to it."""

RENAMED: Mapping[str, str] = {"OP_SysClient": "OP_SignalMsg"}
"""Old or younger name of a message: the name this program uses. Both mean the same message."""


def names_of_message(name: str) -> tuple[str, ...]:
    """Return every name of the message that has this one, the given name first."""
    others = (*RENAMED.items(), *((present, former) for former, present in RENAMED.items()))
    return (name, *(other for known, other in others if known == name))


def is_absent(number: int) -> bool:
    """Say whether a number alone means "not there"."""
    return number in SENTINELS or number >= FIRST_PLACEHOLDER


def dead_numbers(rows: Iterable[OpcodeRow]) -> frozenset[int]:
    """Return the numbers that groups of dead names share in the rows of one range."""
    names: defaultdict[int, set[str]] = defaultdict(set)
    for row in rows:
        if row.opcode >= FIRST_DEAD_NUMBER and not is_absent(row.opcode):
            names[row.opcode].add(row.name)
    return frozenset(number for number, group in names.items() if len(group) >= DEAD_GROUP)


def full_names(names: Collection[str]) -> dict[str, str]:
    """Return cut name: full name, for the names of 33 characters that one longer name continues.

    A cut name that several longer ones continue is left out: nobody knows which was meant.
    """
    cut: dict[str, str | None] = {}
    for name in names:
        if len(name) > CUT_LENGTH:
            short = name[:CUT_LENGTH]
            cut[short] = None if short in cut else name
    return {short: full for short, full in cut.items() if full is not None and short in names}


def preference(name: str, full: Mapping[str, str]) -> tuple[bool, bool, bool, str]:
    """Return a sort key: of several names of one number the one with the lowest key is shown.

    Full names go before cut ones, present names before former ones, names that end in Msg or Cmd
    before others, and then the alphabet decides.
    """
    return (name in full, name in RENAMED, not name.endswith(("Msg", "Cmd")), name)
