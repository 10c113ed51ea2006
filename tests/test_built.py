"""The form of the program that runs."""

from __future__ import annotations

from importlib.machinery import ModuleSpec

import pytest

from emu import built


@pytest.mark.parametrize(
    ("origins", "said"),
    [
        ({}, "pure Python"),
        ({"emu.session.session": "/x/session.py"}, "pure Python"),
        ({"emu.session.session": "/x/session.so"}, "compiled (session)"),
        (
            {"emu.session.session": "/x/session.so", "emu.net.udp._datagrams": "/x/_datagrams.so"},
            "compiled (session, datagrams)",
        ),
    ],
)
def test_the_form_is_reported_by_the_files(
    monkeypatch: pytest.MonkeyPatch, origins: dict[str, str], said: str
) -> None:
    def find(name: str) -> ModuleSpec | None:
        return ModuleSpec(name, None, origin=origins[name]) if name in origins else None

    monkeypatch.setattr(built, "find_spec", find)
    assert built.form() == said


def test_it_can_be_asked_here() -> None:
    assert built.form() == "pure Python" or built.form().startswith("compiled (")
