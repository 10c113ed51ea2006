from __future__ import annotations

from emu.admin.commands import server
from emu.admin.commands.server import Controls, Countdown
from emu.errors import FileFormatError
from tests.admin.test_status_source import STATUS
from tests.support.admin.commanding import CommandBench


class ServerCommands(CommandBench):
    def __init__(self) -> None:
        self.announced: list[str] = []
        self.stops: list[str] = []
        self.armed = 0
        self.problems: list[str] = []
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
        raise FileFormatError("no such type", place="line 3", problems=self.problems)

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
    assert bench.run("reload structs").lines == (
        "structs: not reloaded, as before:", "line 3: no such type",
    )  # fmt: skip
    reply = bench.run("reload")
    assert not reply.ok
    assert reply.lines[0] == "opcodes: nothing was edited", "a fault does not stop the others"
    assert bench.run("reload cats").text.startswith("what: 'cats' is none of opcodes, structs, all")


def test_what_has_two_names_is_read_once_for_all_and_by_each_name() -> None:
    calls: list[str] = []

    async def read() -> str:
        calls.append("read")
        return "5 zones"

    async def other() -> str:
        return "nothing"

    controls = Controls(
        lambda _rank: STATUS, {"zones": read, "other": other, "content": read},
        Countdown(calls.append, lambda: None), dict, lambda: None,
    )  # fmt: skip
    bench = CommandBench(server.COMMANDS.commands(controls))
    assert bench.run("reload all").lines == ("zones: 5 zones", "other: nothing")
    assert bench.run("reload content").lines == ("content: 5 zones",)
    assert calls == ["read", "read"]


def test_reload_shows_the_first_problems_each_on_a_line() -> None:
    bench = ServerCommands()
    bench.problems = [f"a.toml, line {number}: {'x' * 400}" for number in range(1, 31)]
    lines = bench.run("reload structs").lines
    assert len(lines) == 22
    assert lines[1].startswith("a.toml, line 1: xxx")
    assert len(lines[1]) == 300
    assert lines[-1] == "and 10 more; `emu config check` shows all"


def test_shutdown_and_cancel() -> None:
    bench = ServerCommands()
    assert bench.run("cancel").text == "no shutdown is scheduled"
    assert bench.run("shutdown").text == "the server stops in 30 seconds; cancel stops that"
    assert bench.run("cancel").ok
    assert bench.run("shutdown 60").text == "the server stops in 60 seconds; cancel stops that"
    assert bench.countdown.get_timer() == 130.0
    assert bench.run("cancel").text == "the shutdown is canceled"
    assert bench.armed == 4
    assert not bench.run("shutdown -1").ok
    assert not bench.run("shutdown 86401").ok
    assert not bench.run("shutdown 5", rank=100).ok
    assert bench.stops == []
    assert bench.run("shutdown 0").ok
    assert bench.stops == ["stop"]


def test_a_server_without_its_database_can_be_watched_and_stopped() -> None:
    bench = ServerCommands()
    names = {command.name for command in bench.registry if command.without_database}
    assert names == {"status", "shutdown", "cancel", "snapshot"}
