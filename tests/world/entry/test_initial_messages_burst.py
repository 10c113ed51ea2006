"""Bytes of what is sent on entering, against those that were recorded."""

from __future__ import annotations

import pytest

from tests.support.world.worlds import WorldHarness

RECORDED = {
    "OP_EqQuestJournalUpdateCmd": "00000000000000007dcb61ea0600416c64616e610000",
    "OP_EqCollectionUpdateCmd": "000001",
    "OP_EqFactionUpdateCmd": "000000",
    "OP_KnownLanguagesMsg": "000000",
    "OP_DefaultGroupOptionsMsg": "010001010000",
    "OP_UpdateSpellBookMsg": "000000000000",
    "OP_UpdateRecipeBookMsg": "000000000000",
}
"""docs/protocol/world/entering.md#order, docs/protocol/world/recorded.md#examples: a player called
Aldana, client 546.
"""


@pytest.mark.parametrize("name", RECORDED)
def test_the_recorded_bytes(name: str) -> None:
    client = WorldHarness().stand(5, name="Aldana")
    assert {data.hex() for known, data in client.log if known == name} == {RECORDED[name]}


def test_friends_then_ignored() -> None:
    """`65000000 00 00000000` and `65000000 02 00000000`, account 101 there."""
    client = WorldHarness().stand(5, account_id=101)
    assert [data.hex() for name, data in client.log if name == "OP_ChatRelationshipUpdateMsg"] == [
        "650000000000000000", "650000000200000000",
    ]  # fmt: skip
