"""Hints about the installation, for each way in which it can have been made."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace
from typing import Any

import pytest

from emu.cli import installed
from emu.cli.installed import install_command, upgrade_command

PIP = f"{sys.executable} -m pip install"


@pytest.fixture
def origin(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let the distribution have this ``direct_url.json``."""

    def install(text: str | None) -> None:
        requires = ["click<9,>=8.4", "textual<9,>=1.0; extra == 'editor'"]
        found = SimpleNamespace(requires=requires, read_text=lambda _name: text)
        monkeypatch.setattr(installed, "distribution", lambda _name: found)

    return install


@pytest.mark.parametrize(
    ("text", "command"),
    [
        (None, f"{PIP} --upgrade eq2emu"),
        ("no JSON", f"{PIP} --upgrade eq2emu"),
        (
            '{"url": "file:///home/me/my%20emu", "dir_info": {"editable": true}}',
            f"git -C '/home/me/my emu' pull && {PIP} --editable '/home/me/my emu'",
        ),
        (
            '{"url": "file:///opt/emu", "dir_info": {}}',
            f"git -C /opt/emu pull && {PIP} /opt/emu",
        ),
        ('{"url": "file:///tmp/eq2emu-1.whl", "archive_info": {}}', f"{PIP} --upgrade FILE.whl"),
    ],
)
def test_an_upgrade_repeats_the_installation(origin: Any, text: str | None, command: str) -> None:
    origin(text)
    assert upgrade_command() == command


def test_an_extra_is_installed_by_its_libraries(origin: Any) -> None:
    origin(None)
    assert install_command("editor") == f"{PIP} 'textual<9,>=1.0'"


def test_this_installation_names_what_pyproject_does() -> None:
    command = install_command("editor")
    assert command.startswith(f"{PIP} 'textual")
    assert "eq2emu" not in command.removeprefix(PIP)


def test_an_uninstalled_checkout_has_hints_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(installed, "distribution", missing)
    assert upgrade_command() == f"{PIP} --upgrade eq2emu"
    assert install_command("editor").startswith(PIP)
