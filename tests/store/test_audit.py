"""The audit in the database: order, questions, and the age at which acts go."""

from __future__ import annotations

import pytest

from emu.audit import LONGEST_TEXT, AuditedAct, AuditQuestion
from emu.store import Store
from emu.times import Moment

OLDEST = Moment(0.0)


def act(
    subject: str, command: str = "account ban", moment: float = 5.0, who: str = "Root"
) -> AuditedAct:
    return AuditedAct(
        Moment(moment), who, "console", command, subject, "enabled", "banned", "gold", "done", True
    )  # fmt: skip


@pytest.fixture
def store(empty_store: Store) -> Store:
    for one in (act("account Alice"), act("character Borvik", "kick", 6.0, "ann"), act("server")):
        empty_store.audit.add_act(one, OLDEST)
    return empty_store


def subjects(store: Store, **question: object) -> list[str]:
    return [one.subject for one in store.audit.find(AuditQuestion(**question))]  # type: ignore[arg-type]


def test_an_act_is_read_as_it_was_stored_the_newest_first(store: Store) -> None:
    assert subjects(store) == ["server", "character Borvik", "account Alice"]
    assert store.audit.find(AuditQuestion())[-1] == act("account Alice")
    assert subjects(store, limit=1) == ["server"]


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ({"subject": "account"}, ["account Alice"]),
        ({"subject": "account ALICE"}, ["account Alice"]),
        ({"subject": "alice"}, ["account Alice"]),
        ({"subject": "character alice"}, []),
        ({"who": "AN"}, ["character Borvik"]),
        ({"who": "a%"}, []),
        ({"command": "account"}, ["server", "account Alice"]),
        ({"since": Moment(5.5)}, ["character Borvik"]),
    ],
)
def test_a_question_chooses(store: Store, question: dict[str, object], found: list[str]) -> None:
    assert subjects(store, **question) == found


def test_old_acts_go_with_the_next_one(store: Store) -> None:
    store.audit.add_act(act("world", moment=9.0), Moment(5.5))
    assert subjects(store) == ["world", "character Borvik"]


def test_a_long_text_is_cut(store: Store) -> None:
    store.audit.add_act(act("server")._replace(reason="x" * 9000), OLDEST)
    assert store.audit.find(AuditQuestion(limit=1))[0].reason == "x" * LONGEST_TEXT
