"""URLs of databases: read in all their forms, and shown without passwords."""

from pathlib import Path

import pytest

from emu.database import ServerUrl
from emu.database.where import shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgresql://emu@db.example/emu", ServerUrl("emu", "db.example", "", "emu")),
        ("postgres://emu:s%40x@db:6432/emu", ServerUrl("emu", "db", "6432", "emu", "s@x")),
        ("postgresql:///emu", ServerUrl("", "", "", "emu")),
        ("postgresql://emu@[::1]/emu", ServerUrl("emu", "[::1]", "", "emu")),
        ("postgresql://a:p@ss@one,two/emu", ServerUrl("a", "one,two", "", "emu", "p@ss")),
        (
            "postgresql:///emu?host=/run/postgresql&sslmode=require&user=me&password=pw",
            ServerUrl("me", "/run/postgresql", "", "emu", "pw", (("sslmode", "require"),)),
        ),
    ],
)
def test_a_url_is_read(text: str, expected: ServerUrl) -> None:
    assert ServerUrl.parse(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "emu", "sqlite:emu.sqlite", "mysql://emu@db/emu", "postgresql:/emu", "postgresql://emu@db",
        "postgresql://emu:secret@db:notaport/emu", "postgresql://emu:secret@db:70000/emu",
        "postgresql://emu:sec/ret@db/emu", "postgresql://emu@db/e\nmu",
        "postgresql://emu:secret@db/emu?sslmode",
    ],
)  # fmt: skip
def test_a_url_that_is_wrong_is_refused_without_its_password(text: str) -> None:
    with pytest.raises(ValueError) as caught:  # the text is below
        ServerUrl.parse(text)
    assert "sec" not in str(caught.value)


def test_no_text_of_a_url_has_its_password() -> None:
    where = ServerUrl.parse("postgresql://emu:secret@db:6432/emu?passfile=/secret")
    for text in (str(where), repr(where), f"{where}", shown(where), where.hide("is secret: no")):
        assert "secret" not in text
    assert shown(where) == "postgresql://emu@db:6432/emu"
    assert shown(Path("/srv/emu.sqlite")) == "sqlite:/srv/emu.sqlite"
    assert ServerUrl("", "", "", "emu").hide("nothing to hide") == "nothing to hide"
