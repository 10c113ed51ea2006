from __future__ import annotations

from twisted.internet.task import Clock

from emu.commands import Use
from emu.net.logs import logger
from emu.net.scheduler import Scheduler
from emu.net.watch import RefusalLog, report_use
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
