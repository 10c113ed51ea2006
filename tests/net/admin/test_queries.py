"""The query ports over real UDP: settings, limits, a flood, and a port that is taken."""

from __future__ import annotations

from pathlib import Path

import pytest
from twisted.internet.protocol import DatagramProtocol

from emu.admin.a2s.messages import A2sQuery, push_query
from emu.admin.ogp.fields import DIALECTS, V94
from emu.admin.ogp.messages import QueryHead, Type, push_query_head
from emu.errors import CommandError
from emu.net.admin.queries import QueryEndpoints, answer_rules, ogp_rules, presentation
from emu.net.scheduler import Scheduler
from tests.support.admin.answering import Asker
from tests.support.admin.statuses import server_status
from tests.support.running.configs import small_config
from tests.support.running.whole_server import HOST, reactor, until


def part_of(folder: Path, *settings: str, banned: str = "") -> QueryEndpoints:
    config = small_config(folder, *settings)
    return QueryEndpoints(
        config, reactor=reactor, scheduler=Scheduler(reactor),
        status=lambda _now: server_status(), is_banned=lambda host: host == banned,
    )  # fmt: skip


async def heard(part: QueryEndpoints, *asked: bytes, count: int) -> list[bytes]:
    """Ask the one open port, and return what comes."""
    asker = Asker()
    own = reactor.listenUDP(0, asker, interface=HOST)
    try:
        for data in asked:
            own.write(data, (HOST, part._ports[0].getHost().port))
        await until(lambda: len(asker.heard) >= count, "answers")
        return asker.heard
    finally:
        await own.stopListening()
        await part.stop()


async def test_both_protocols_answer_on_their_ports(tmp_path: Path) -> None:
    part = part_of(tmp_path, f"ogp.listen={HOST}:0")
    part.listen()
    (answer,) = await heard(part, push_query_head(QueryHead(Type.PING)), count=1)
    assert answer.startswith(b"\xff\xff\xff\xffOGP\0")
    part = part_of(tmp_path, f"a2s.listen={HOST}:0")
    part.listen()
    (answer,) = await heard(part, push_query(A2sQuery.INFO, None), count=1)
    assert answer[4:5] == b"A"


async def test_one_address_gets_so_many_answers_and_no_more(tmp_path: Path) -> None:
    part = part_of(tmp_path, f"a2s.listen={HOST}:0", "query.per_address=1")
    part.listen()
    await heard(part, *[push_query(A2sQuery.INFO, None)] * 20, count=2)
    counters = part.shells["a2s"].counters
    assert counters["answered"] <= 3
    assert counters["limited"] >= 10


async def test_banned_addresses_are_reported_so_by_ogp(tmp_path: Path) -> None:
    part = part_of(tmp_path, f"ogp.listen={HOST}:0", banned=HOST)
    part.listen()
    (answer,) = await heard(part, push_query_head(QueryHead(Type.PING)), count=1)
    assert answer == bytes.fromhex("ffffffff4f475000 03 ff 01 00")


@pytest.mark.parametrize("host", [HOST, "[::]"])
async def test_masters_are_distinguished_from_the_port_of_ogp(tmp_path: Path, host: str) -> None:
    master = Asker()
    port = reactor.listenUDP(0, master, interface=HOST)
    at = f"{HOST}:{port.getHost().port}"
    part = part_of(tmp_path, f"ogp.listen={host}:0", f"ogp.masters={at}", "ogp.game_id=258")
    part.listen()
    try:
        await until(lambda: master.heard, "the uplink")
        assert master.heard == [bytes.fromhex("ffffffff4f475000 03 03 01 0201")]
    finally:
        await part.stop()
        await port.stopListening()


# Twisted leaves the socket that could not be bound to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
async def test_a_taken_port_is_one_line_with_its_key(tmp_path: Path) -> None:
    taken = reactor.listenUDP(0, DatagramProtocol(), interface=HOST)
    part = part_of(tmp_path, f"a2s.listen={HOST}:{taken.getHost().port}")
    try:
        with pytest.raises(CommandError, match=r"^a2s\.listen: cannot listen on UDP 127\.0\.0\.1:"):
            part.listen()
    finally:
        await part.stop()
        await taken.stopListening()


def test_settings_become_rules(tmp_path: Path) -> None:
    config = small_config(
        tmp_path, "query.per_address=5", "query.per_second=100", "ogp.dialect=0.94",
        "ogp.most_parts=3", "ogp.game_id=7", "ogp.host_name_colors=0:0x0a,3:0x90:0xf800",
    )  # fmt: skip
    rules = answer_rules(config)
    assert (rules.address_burst, rules.address_rate, rules.share_rate) == (10, 5.0, 100.0)
    assert (list(ogp_rules(config).dialects), ogp_rules(config).most_parts) == ([V94], 3)
    assert ogp_rules(small_config(tmp_path)).dialects == DIALECTS
    shown = presentation(config)
    assert (shown.game_id, shown.host_name_colors[1].color) == (7, 0xF800)
