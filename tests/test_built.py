"""The form of the program that runs."""

from __future__ import annotations

from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import emu
from emu import built

LIBRARY = EXTENSION_SUFFIXES[0]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([], "pure Python"),
        (["session/session.py", "net/udp/_datagrams.c"], "pure Python"),
        (["session/session.py", f"session/session{LIBRARY}"], "compiled (session)"),
        (
            [f"session/session{LIBRARY}", f"net/udp/_datagrams{LIBRARY}"],
            "compiled (session, datagrams)",
        ),
    ],
)
def test_the_form_is_reported_by_the_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, files: list[str], said: str
) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setattr(emu, "__path__", [str(tmp_path)])
    assert built.form() == said


def test_it_can_be_asked_here() -> None:
    assert built.form() == "pure Python" or built.form().startswith("compiled (")
