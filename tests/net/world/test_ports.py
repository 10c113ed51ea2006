from pathlib import Path

from twisted.internet.task import Clock

from emu.commands import Registry
from emu.config.load import parse
from emu.net.scheduler import Scheduler
from emu.net.world.ports import IDENTITY
from emu.net.world.service import WorldEndpoint
from tests.support.world.world_fakes import no_storage


def test_the_ports_of_a_real_world_follow_its_settings(tmp_path: Path) -> None:
    scheduler = Scheduler(Clock())
    config = parse({}, [f"world.zones={tmp_path}"])
    part = WorldEndpoint(
        config, no_storage(), lambda: None, Clock(), scheduler, commands=Registry()  # type: ignore[return-value]
    )  # fmt: skip
    ports = part.parts.ports
    assert ports.zones_folder() == tmp_path
    assert ports.clock is scheduler
    identities = {ports.draw() for _ in range(100)}
    assert len(identities) == 100
    assert {len(one) for one in identities} == {2 * IDENTITY}
    assert {ports.roll(2) for _ in range(100)} == {0, 1}
