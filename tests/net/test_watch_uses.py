from __future__ import annotations

from types import SimpleNamespace

from twisted.internet.task import Clock

from emu.commands import Use
from emu.limits.rates import TurnRules
from emu.net.logs import logger
from emu.net.scheduler import Scheduler
from emu.net.udp.session_port import Accounting
from emu.net.watch import RefusalLog, Watch, report_use
from tests.support.running.whole_server import captured_log


def refusals() -> RefusalLog:
    return RefusalLog(logger("admin"), Scheduler(Clock()))


def test_a_use_is_one_line_whatever_is_in_it() -> None:
    with captured_log("text") as log:
        write = report_use(logger("admin"), refusals())
        write(Use("root", "console", "kick Bob", "Bob was disconnected\nand more", ok=True))
        write(Use("bert", "rcon 192.0.2.1", "save\nadmin: forged", "", ok=True))
    first, second = log.text.splitlines()
    assert first.endswith("command of root (console): kick Bob: Bob was disconnected")
    assert "command of bert (rcon 192.0.2.1): save" in second
    assert second.endswith("forged: done")


def test_one_who_asks_in_vain_hides_nobody_else() -> None:
    with captured_log("text") as log:
        write = report_use(logger("admin"), refusals())
        for number in range(20):
            write(Use(f"player{number}", "game", "kick Bob", "you may not", ok=False))
    assert log.text.count("you may not") == 20


def test_what_is_wanted_in_vain_a_thousand_times_is_reported_a_few_times_and_counted() -> None:
    counted = refusals()
    with captured_log("text") as log:
        write = report_use(logger("admin"), counted)
        for number in range(1000):
            write(Use("Mallory", "game", f"kick {number}", f"no player {number}", ok=False))
            write(Use("root", "console", f"kick {number}", "done", ok=True))
        reported = log.text.splitlines()
        assert sum("Mallory" in line for line in reported) <= 3
        assert sum("root" in line for line in reported) == 1000
        counted.stop()
        assert "more failed commands of Mallory (game)" in log.text.splitlines()[-1]


def test_the_shares_of_turns_and_a_database_that_was_away_are_measured() -> None:
    watch = Watch()
    accounting = Accounting(TurnRules())
    accounting.late_sessions, accounting.unread_datagrams = 2, 3
    watch.turns("login", accounting)
    storage = SimpleNamespace(waiting=4, deferred=5, reach=SimpleNamespace(times_away=6))
    watch.storage(storage)  # type: ignore[arg-type]  # its counts alone
    value = watch.measures.value
    assert (value("login_turns", "session late"), value("login_turns", "datagram unread")) == (2, 3)
    assert (value("store_waiting"), value("writes_waiting"), value("database_away")) == (4, 5, 6)
