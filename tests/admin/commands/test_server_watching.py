from typing import Any

from emu.admin.commands import server
from emu.admin.commands.server import SNAPSHOT, Controls
from emu.commands.registry import ADMINISTRATOR, OWNER
from tests.support.admin.commanding import CommandBench


def test_only_the_console_gets_the_snapshot_and_no_use_is_logged() -> None:
    unused: Any = None
    controls = Controls(unused, {}, unused, lambda: {"process": 1})
    bench = CommandBench(server.COMMANDS.commands(controls))
    assert bench.run(SNAPSHOT, rank=OWNER).data == {"process": 1}
    assert "emu status" in bench.run(SNAPSHOT, rank=OWNER).text
    assert not bench.run(SNAPSHOT, rank=ADMINISTRATOR).ok
    assert bench.uses[-1].result.startswith("snapshot needs rank")
    assert len(bench.uses) == 1
