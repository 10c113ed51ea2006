from typing import Any

import pytest
from twisted.internet.task import Clock

from emu.appearance import Models
from emu.config.load import parse
from emu.link.settings import LoginServerAddress
from emu.net.cluster.service import Alone, BusEndpoint, ProcessContext
from emu.net.link.client import LoginLink
from emu.net.logs import logger
from emu.net.scheduler import Scheduler, Tasks
from emu.net.world.registration import LinkAccount, login_link
from emu.world.entry.admission import WorldAdmissionRules
from emu.world.population.atlas import read_atlas
from emu.world.rules import AdmissionRules
from tests.support.world.world_fakes import no_storage


def link(settings: list[str], login_address: tuple[str, int] | None) -> LoginLink:
    storage = no_storage()
    clock = Clock()
    scheduler = Scheduler(clock)
    ground = ProcessContext(
        BusEndpoint(scheduler), parse({}, settings), storage, read_atlas(),
        lambda: ("203.0.113.7", 9001), clock, scheduler, Tasks(logger("world")),
    )  # fmt: skip
    cluster_one = Alone(ground)
    admission = WorldAdmissionRules(
        AdmissionRules(),
        cluster_one.processes.presence,
        cluster_one.processes.handoffs,
        locked=False,
    )
    account = LinkAccount("antonia", "secret")
    models = Models(cluster_one.models)
    return login_link(ground, cluster_one, account, admission, models, login_address=login_address)


@pytest.mark.parametrize(
    ("settings", "login_address", "servers"),
    [
        ([], ("0.0.0.0", 9100), [LoginServerAddress("127.0.0.1", 9100)]),
        ([], None, []),
        (
            ["world.login_servers=192.0.2.1:9100", "world.account=antonia", "world.password=x"],
            ("127.0.0.1", 9100),
            [LoginServerAddress("192.0.2.1", 9100)],
        ),
    ],
)
def test_the_login_server_of_this_process_counts_where_none_is_configured(
    settings: list[str], login_address: tuple[str, int] | None, servers: list[LoginServerAddress]
) -> None:
    assert list(link(settings, login_address).config.servers) == servers


def test_the_world_introduces_itself_by_name_account_and_advertised_address() -> None:
    reported: Any = link(["world.name=Antonia"], None).world.registration()
    assert (reported.name, reported.account, reported.address) == (
        "Antonia",
        "antonia",
        "203.0.113.7",
    )
