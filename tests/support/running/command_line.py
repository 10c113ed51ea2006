"""Runs `emu` commands in the test's own process, on a database of the test's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

from click.testing import CliRunner, Result

from emu.cli import common
from emu.cli.main import root
from emu.errors import EmuError
from emu.store import Store

CHEAP = "password_memory_cost = 64\npassword_iterations = 1\npassword_min_length = 1\n"


class CommandLine:
    """The `emu` command with a configuration file in a folder."""

    def __init__(self, folder: Path) -> None:
        self.database = folder / "emu.sqlite"
        self.config = folder / "emu.toml"
        # A server in this process cannot answer while the command runs here.
        self.notice = 0.02
        """Seconds that a command waits for a server to take notice of a change."""
        self.config.write_text(
            f'[database]\nurl = "sqlite:{self.database}"\n[login]\n{CHEAP}', encoding="utf-8"
        )

    def run(self, *words: str, stdin: str | None = None) -> Result:
        """Run a command and return whatever came of it."""
        arguments = ["--config", str(self.config), *words]
        with patch.object(common, "NOTICE", self.notice):
            return CliRunner().invoke(root, arguments, input=stdin)

    def good(self, *words: str, stdin: str | None = None) -> Result:
        """Run a command that must go well."""
        result = self.run(*words, stdin=stdin)
        assert result.exit_code == 0, (result.output, result.exception)
        return result

    def rows(self, *words: str) -> Any:
        """Run a command with ``--format json`` and return what it printed."""
        return json.loads(self.good(*words, "--format", "json").stdout)

    def refused(self, *words: str, stdin: str | None = None) -> str:
        """Run a command that must be refused, and return the one line that says why."""
        result = self.run(*words, stdin=stdin)
        assert isinstance(result.exception, EmuError), (result.output, result.exception)
        text = str(result.exception)
        assert "\n" not in text
        return text


def stored_password(emu: CommandLine, account: str) -> str:
    """Return an account's password as its row has it."""
    with Store.open(emu.database) as store:
        found = store.login.accounts.find(account)
        assert found is not None
        return found.password
