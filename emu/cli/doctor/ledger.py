"""Check of the ledger: the coins and things of all owners follow from its entries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from emu.cli.doctor.findings import Finding, ok, warn
from emu.database import Where
from emu.errors import EmuError
from emu.ledger import Audit, BalanceDifference
from emu.store import Store
from emu.texts import counted

LEDGER: Final = "ledger"
MOST_NAMED: Final = 5
"""Owners that a finding names."""


def check_ledger(where: Where) -> Iterator[Finding]:
    """Compare coins and entries; nothing for a database that this program cannot read.

    Other checks report such a database.
    """
    try:
        with Store.open_for_reading(where) as store:
            audit = store.world.ledger.audit()
    except EmuError:
        return
    yield judge_ledger(audit)
    if audit.things or audit.wrong_things:
        yield judge_things(audit)


def judge_things(audit: Audit) -> Finding:
    """Judge the comparison of things and entries."""
    if not audit.wrong_things:
        return ok(LEDGER, f"its entries explain all things: {audit.things}")
    named = ", ".join(
        f"kind {kind} {found - made:+}" for kind, made, found in audit.wrong_things[:MOST_NAMED]
    )
    count = counted(len(audit.wrong_things), "kind")
    return warn(
        LEDGER, f"the number of {count} of things changed without an entry: {named}",
        "another program has changed world_things; see emu item show NUMBER --holders",
    )  # fmt: skip


def judge_ledger(audit: Audit) -> Finding:
    """Judge the comparison of coins and entries."""
    if not audit.differences:
        return ok(LEDGER, f"its entries explain all coins: {audit.held} copper")
    named = ", ".join(map(_text, audit.differences[:MOST_NAMED]))
    count = counted(len(audit.differences), "balance")
    return warn(
        LEDGER, f"{count} changed without an entry: {named}",
        "another program, or a server of an earlier release, has changed coins; see"
        " emu character log --number",
    )  # fmt: skip


def _text(one: BalanceDifference) -> str:
    return f"{one.owner.kind} {one.owner.number} {one.found - one.by_entries:+} copper"
