from pathlib import Path

import pytest

from emu.cli.console_socket import NoServer
from emu.cli.watch.status import ask, read
from emu.commands import Reply
from emu.errors import CommandError
from tests.cli.consoles.test_admin import server
from tests.support.admin.snapshots import Measured


def test_a_snapshot_is_asked_for_and_read(tmp_path: Path) -> None:
    value = Measured().value()
    with server(tmp_path / "c", lambda _line: Reply((), value)) as lines:
        assert read(ask(tmp_path / "c")).process == 7
    assert lines == ["snapshot"]


def test_who_cannot_give_one_gets_an_error(tmp_path: Path) -> None:
    with pytest.raises(NoServer, match="Start one with: emu run"):
        ask(tmp_path / "c")
    older = Reply(("there is no command snapshot",), ok=False)
    with (
        server(tmp_path / "c", lambda _line: older),
        pytest.raises(CommandError, match="is an older server running"),
    ):
        ask(tmp_path / "c")
    with pytest.raises(CommandError, match="unreadable answer"):
        read({"process": 1})
