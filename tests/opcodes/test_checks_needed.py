"""A version range that lost a message which the services need is found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from emu.opcodes import OpcodeRow, OpcodeTables, VersionRange, shipped_tables
from emu.opcodes.checks import NEEDED, Missing, Severity, check, missing_messages
from emu.opcodes.text import shipped_rows

ROOT = Path(__file__).parent.parent.parent
OPTIONAL = {
    "OP_AllCharactersDescRequestMsg", "OP_KeymapLoadMsg", "OP_LsClientAlertlogReplyMsg",
    "OP_LsClientBaselogReplyMsg", "OP_LsClientCrashlogReplyMsg", "OP_LsClientVerifylogReplyMsg",
}  # fmt: skip
"""What the login service takes from clients and does without."""


def missing(rows: list[OpcodeRow]) -> list[Missing]:
    return list(missing_messages(OpcodeTables(rows), shipped_tables()))


def without(name: str, version_range: VersionRange) -> list[OpcodeRow]:
    return [row for row in shipped_rows() if (row.name, row.range) != (name, version_range)]


def test_the_login_service_speaks_of_nothing_else() -> None:
    spoken = set()
    for path in (ROOT / "emu" / "login").glob("*.py"):
        spoken |= set(re.findall(r'"(OP_[A-Za-z]+Msg)"', path.read_text(encoding="utf-8")))
    assert spoken - OPTIONAL <= set(NEEDED)


def test_what_ships_serves_every_client() -> None:
    assert missing(list(shipped_rows())) == []


def test_a_lost_message_is_distinguished_from_one_that_never_was() -> None:
    lost = without("OP_PlayCharacterReplyMsg", VersionRange(540, 546))
    assert missing(lost) == [Missing(VersionRange(540, 546), ("OP_PlayCharacterReplyMsg",), ())]
    new = [*shipped_rows(), OpcodeRow(70000, 70001, "OP_LoginReplyMsg", 4)]
    (found,) = missing(new)
    assert (found.versions, found.lost, len(found.never)) == ((70000, 70001), (), len(NEEDED) - 1)


def test_a_place_holder_in_an_added_range_loses_a_message_of_the_wider_one() -> None:
    rows = [*shipped_rows(), OpcodeRow(545, 545, "OP_WorldListMsg", 65535)]
    assert missing(rows) == [Missing(VersionRange(545, 545), ("OP_WorldListMsg",), ())]


@pytest.mark.slow
def test_the_lints_say_it_with_what_to_do() -> None:
    rows = without("OP_PlayCharacterReplyMsg", VersionRange(540, 546))
    (found,) = [one for one in check(rows, shipped=shipped_tables()) if "lost" in one.code]
    assert (found.severity, found.range) == (Severity.ERROR, "540-546")
    assert found.message.startswith("OP_PlayCharacterReplyMsg lost the number")
    assert not [one for one in check(rows) if "lost" in one.code]
