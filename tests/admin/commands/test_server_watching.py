from emu.admin.commands import server
from emu.admin.commands.server import SNAPSHOT
from emu.commands.registry import ADMINISTRATOR, OWNER
from tests.support.admin.commanding import CommandBench


def test_only_who_holds_the_machine_gets_it_and_nobody_is_told() -> None:
    desk = CommandBench(server.snapshot_commands(lambda: {"process": 1}))
    assert desk.run(SNAPSHOT, rank=OWNER).data == {"process": 1}
    assert "emu status" in desk.run(SNAPSHOT, rank=OWNER).text
    assert not desk.run(SNAPSHOT, rank=ADMINISTRATOR).ok
    (command,) = server.snapshot_commands(dict)
    assert command.is_quiet
