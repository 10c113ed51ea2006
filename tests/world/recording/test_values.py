"""Values of recordings as JSON, and what is left out of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from emu.correspondence import Petition, PetitionKind
from emu.errors import FileFormatError
from emu.items.held import Place, Thing, Where
from emu.ledger import Owner
from emu.model import Membership
from emu.times import Moment
from emu.world.recording.values import decoded, encoded, masked
from tests.support.world.world_fakes import world_character


def through(value: Any, *, is_private: bool = False) -> Any:
    return decoded(json.loads(json.dumps(encoded(value, is_private=is_private))))


@pytest.mark.parametrize(
    "value",
    [
        None, True, 5, 0.1, "text", b"\0\xff", [1, "a", [2]], (1, (2, 3)), {4, 5}, Where.WORN,
        {1: ["a"], "b": (2,)}, Owner.character(7),
        Thing(3, 1001, Place(Where.HELD, 0, 2), 4, creator="Borvik", created=Moment(1.5)),
        {Owner.character(1): [Thing(1, 2, Place(Where.BANK, 0, 0))]},
        world_character(5, 6, zone_id=12, relations=((0, "Borvik"),)),
    ],
)  # fmt: skip
def test_a_value_is_read_as_it_was(value: Any) -> None:
    found = through(value)
    assert found == value
    assert type(found) is type(value)


def petition() -> Petition:
    return Petition(
        1, 2, 3, "Borvik", PetitionKind.BUG, "a secret", "antonica 1, 2, 3", Moment(1.0), "no"
    )


def test_texts_of_players_and_addresses_are_left_out_unless_asked_for() -> None:
    found = through(petition())
    assert (found.text, found.answer, found.player) == ("x xxxxxx", "xx", "Borvik")
    assert through(petition(), is_private=True) == petition()
    member = through(Membership("songs", "open sesame"))
    assert member == Membership("songs", "")


def test_a_masked_text_keeps_its_form() -> None:
    assert masked("Hail, I am 7!\aBé") == "xxxx, x xx x!\axx"


def test_what_is_no_value_becomes_nothing() -> None:
    assert encoded([Path("here"), object()]) == [None, None]


@pytest.mark.parametrize(
    "value",
    [
        {"@": "record", "of": "subprocess:Popen", "is": {"args": "true"}},
        {"@": "record", "of": "emu.model:replace", "is": {}},
        {"@": "record", "of": "emu.ledger:Owner", "is": {"unknown": 1}},
        {"@": "enum", "of": "emu.items.held:Where", "is": "nowhere"},
        {"@": "bytes", "is": "no base64!"}, {"@": "map", "is": [1]}, {"is": 1}, {"@": "tuple"},
    ],
)  # fmt: skip
def test_damaged_values_are_refused(value: Any) -> None:
    with pytest.raises(FileFormatError):
        decoded(value)


def test_a_value_may_not_be_too_deep() -> None:
    value: Any = []
    for _ in range(100):
        value = [value]
    with pytest.raises(FileFormatError, match="too deep"):
        decoded(value)
