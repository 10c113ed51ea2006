from collections.abc import Callable

import pytest
from twisted.application.service import Application, MultiService
from twisted.internet.error import CannotListenError
from twisted.logger import ILogObserver
from zope.interface import implementer

from emu.errors import CommandError
from emu.net.daemon import CannotStart
from emu.net.logs import logger
from emu.net.program import ProgramService
from tests.support.running.whole_server import captured_log


class Program(ProgramService):
    """Opens by a call of the test, and counts what it does."""

    def __init__(self, opening: Callable[[], object] = lambda: None) -> None:
        super().__init__(
            logger("test"), "info", reactor=object(), log_observer=None, warnings=(),
            started=lambda: None, failed=None,
        )  # fmt: skip
        self.opening = opening
        self.done: list[str] = []

    def _open(self) -> None:
        self.done.append("open")
        self.opening()

    def _key_of(self, _error: CannotListenError) -> str:
        return "login.listen"

    def _take_back(self) -> None:
        self.done.append("taken back")

    def _serve(self) -> None:
        self.done.append("serves")


def test_ports_are_opened_once_and_before_it_serves() -> None:
    program = Program()
    program.privilegedStartService()
    program.startService()
    assert program.done == ["open", "serves"]
    bare = Program()
    bare.startService()
    assert bare.done == ["open", "serves"], "not every starter opens low ports first"


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (CommandError("the file is damaged"), "emu: the file is damaged"),
        (CannotListenError("127.0.0.1", 9100, OSError(98, "in use")), "emu: login.listen: "),
        (PermissionError(13, "Permission denied", "emu.sqlite"), "emu: emu.sqlite"),
    ],
)
def test_a_start_that_fails_is_taken_back_with_one_line(error: Exception, line: str) -> None:
    def fail() -> None:
        raise error

    program = Program(fail)
    with pytest.raises(CannotStart) as end:
        program.startService()
    assert str(end.value).startswith(line)
    assert program.done == ["open", "taken back"]


@pytest.mark.parametrize("writes_log", [False, True])
def test_a_start_that_fails_is_in_the_log_if_the_program_writes_it(*, writes_log: bool) -> None:
    def fail() -> None:
        raise CommandError("the file is damaged")

    program, shown = Program(fail), list[str]()
    program._failed = shown.append
    program._log_observer = implementer(ILogObserver)(lambda _event: None)
    program.setServiceParent(Application("emu") if writes_log else MultiService())
    with captured_log("text") as log, pytest.raises(CannotStart) as end:
        program.startService()
    assert (end.value.code == 1) is writes_log
    assert shown == ["the file is damaged"] * writes_log
    assert log.text.count("the file is damaged") == int(writes_log)
