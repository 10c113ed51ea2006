from __future__ import annotations

from emu.admin.commands import server
from emu.admin.commands.server import Controls
from emu.admin.countdown import Countdown
from emu.errors import FileFormatError
from tests.admin.test_status_source import STATUS
from tests.support.admin.commanding import CommandBench


class ServerCommands(CommandBench):
    def __init__(self) -> None:
        self.announced: list[str] = []
        self.stops: list[str] = []
        self.armed = 0
        self.countdown = Countdown(self.announced.append, lambda: self.stops.append("stop"))
        reloads = {"opcodes": self._good, "structs": self._bad}
        super().__init__(
            server.COMMANDS.commands(
                Controls(lambda _rank: STATUS, reloads, self.countdown, dict, self._changed)
            )
        )

    async def _good(self) -> str:
        return "nothing was edited"

    async def _bad(self) -> str:
        raise FileFormatError("no such type", place="line 3")

    def _changed(self) -> None:
        self.armed += 1


def test_status_for_people_and_programs() -> None:
    reply = ServerCommands().run("status", rank=10)
    assert reply.lines[0] == "hostname: TestLabs"
    assert reply.data["players"][0]["name"] == "Aldana"
    assert not ServerCommands().run("status", rank=9).ok


def test_reload_says_what_came_of_it() -> None:
    bench = ServerCommands()
    assert bench.run("reload opcodes").lines == ("opcodes: nothing was edited",)
    assert bench.run("reload structs").text == "line 3: no such type"
    assert not bench.run("reload").ok
    assert bench.run("reload cats").text.startswith("what: 'cats' is none of opcodes, structs, all")


def test_shutdown_and_cancel() -> None:
    bench = ServerCommands()
    assert bench.run("cancel").text == "no shutdown is scheduled"
    assert bench.run("shutdown 60").text == "the server stops in 60 seconds; cancel stops that"
    assert bench.countdown.get_timer() == 130.0
    assert bench.run("cancel").text == "the shutdown is canceled"
    assert bench.armed == 2
    assert not bench.run("shutdown -1").ok
    assert not bench.run("shutdown 86401").ok
    assert not bench.run("shutdown 5", rank=100).ok
    assert bench.stops == []
    assert bench.run("shutdown 0").ok
    assert bench.stops == ["stop"]
