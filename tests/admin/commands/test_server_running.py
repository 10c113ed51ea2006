from __future__ import annotations

from emu.admin.commands import server
from emu.admin.commands.server import Controls
from emu.admin.countdown import Countdown
from emu.errors import FileFormatError
from tests.admin.test_status_source import STATUS
from tests.support.admin.commanding import CommandBench


class Room(CommandBench):
    def __init__(self) -> None:
        self.told: list[str] = []
        self.stops: list[str] = []
        self.armed = 0
        self.countdown = Countdown(self.told.append, lambda: self.stops.append("stop"))
        reloads = {"opcodes": self._good, "structs": self._bad}
        super().__init__(
            server.server_commands(
                Controls(lambda _rank: STATUS, reloads, self.countdown, self._changed)
            )
        )

    async def _good(self) -> str:
        return "nothing was edited"

    async def _bad(self) -> str:
        raise FileFormatError("no such type", place="line 3")

    def _changed(self) -> None:
        self.armed += 1


def test_status_for_people_and_programs() -> None:
    reply = Room().run("status", rank=10)
    assert reply.lines[0] == "hostname: TestLabs"
    assert reply.data["players"][0]["name"] == "Aldana"
    assert not Room().run("status", rank=9).ok


def test_reload_says_what_came_of_it() -> None:
    room = Room()
    assert room.run("reload opcodes").lines == ("opcodes: nothing was edited",)
    assert room.run("reload structs").text == "line 3: no such type"
    assert not room.run("reload").ok
    assert room.run("reload cats").text.startswith("what: 'cats' is none of opcodes, structs, all")


def test_shutdown_and_cancel() -> None:
    room = Room()
    assert room.run("cancel").text == "no shutdown is coming"
    assert room.run("shutdown 60").text == "the server stops in 60 seconds; cancel takes that back"
    assert room.countdown.get_timer() == 130.0
    assert room.run("cancel").text == "the server goes on"
    assert room.armed == 2
    assert not room.run("shutdown -1").ok
    assert not room.run("shutdown 86401").ok
    assert not room.run("shutdown 5", rank=100).ok
    assert room.stops == []
    assert room.run("shutdown 0").ok
    assert room.stops == ["stop"]
