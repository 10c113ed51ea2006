"""What sessions counted stays when they are over."""

from __future__ import annotations

import random
from dataclasses import asdict

from emu.session.endpoint import SessionTotals
from tests.support.sessions.link import connected_link


def test_every_counter_of_a_session_is_added_up_once() -> None:
    link = connected_link(loss=0.2, seed=3)
    for number in range(40):
        link.server.send(1, random.Random(number).randbytes(400))
        link.run(0.05)
    link.settle()
    server, client = link.server, link.client
    server.receive_datagram(b"no check at all", link.now)
    totals = SessionTotals()
    totals.add_session(server)
    assert totals.sessions == 1
    assert totals.counted.retransmissions == server.statistics().retransmissions > 0
    assert totals.counted == server.counts()
    assert totals.counted._asdict().items() <= asdict(server.statistics()).items()
    assert totals.drops == server.drops
    assert sum(totals.drops.values()) == server.statistics().drops > 0
    both = totals.with_those([client])
    assert both.sessions == 2
    assert both.counted.messages_received == 40 + server.statistics().messages_received
    assert totals.sessions == 1, "looking changes nothing"
