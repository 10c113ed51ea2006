from __future__ import annotations

import pytest

from emu.admin.rcon import RconUser, RconUsers, read_users

FILE = """
# who may
anna administrator one secret phrase
bert   guide   other
"""


def test_the_password_says_who_it_is() -> None:
    users = RconUsers(read_users(FILE))
    assert users.find(b"other") == RconUser("bert", 10, b"other")
    assert users.find(b"one secret phrase") == RconUser("anna", 200, b"one secret phrase")
    assert users.find(b"") is None
    assert users.find(b"OTHER") is None
    assert len(users) == 2


def test_without_users_nobody_is_found() -> None:
    assert RconUsers([]).find(b"") is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("anna guide", "line 1: must be a name"),
        ("\nanna king x", "line 2: 'king' is none of guide"),
        ("a guide x\na guide y", "line 2: 'a' is there twice"),
        ("a guide x\nb guide x", "line 2: another user has this password"),
    ],
)
def test_a_wrong_line_is_named(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_users(text)
