from __future__ import annotations

from emu.commands import Use
from emu.net.admin.uses import report_use
from emu.net.logs import logger
from tests.support.house import captured_log


def test_a_use_is_one_line_whatever_is_in_it() -> None:
    with captured_log("text") as log:
        write = report_use(logger("admin"))
        write(Use("root", "console", "kick Bob", "Bob was sent away\nand more", ok=True))
        write(Use("bert", "rcon 192.0.2.1", "save\nadmin: forged", "", ok=True))
    first, second = log.text.splitlines()
    assert first.endswith("command of root (console): kick Bob: Bob was sent away")
    assert "command of bert (rcon 192.0.2.1): save" in second
    assert second.endswith("forged: done")
