"""Texts for members of groups at other nodes; the commands' tests have those that players see."""

from __future__ import annotations

import json
from typing import Any

import pytest

from emu.errors import CommandError
from emu.processes.ports import Note
from emu.world.actors.options import Option
from emu.world.groups.shared import MALFORMED
from emu.world.social.group_texts import GUESTS, TEXTS
from tests.support.cluster.brokers import MemoryCluster
from tests.support.coroutines import finish
from tests.support.world.worlds import Client, WorldHarness


class Two:
    """Two nodes, and a player at each."""

    def __init__(self) -> None:
        self.cluster = MemoryCluster()
        self.west = WorldHarness(joined=self.cluster.add("west"))
        self.east = WorldHarness(beside=self.west, joined=self.cluster.add("east"))
        self.one = self.west.stand(5, name="Aldana")
        self.other = self.east.stand(6, name="Borvik", zone_id=12)


@pytest.fixture
def two() -> Two:
    return Two()


def last_line(client: Client) -> str:
    return str(client.decoded("WS_DisplayText")[-1]["text"])


def note(**changes: Any) -> Note:
    return {"kind": "line", "speaker": "", "text": "hello", "to": "[6]"} | changes


def test_a_line_reaches_members_wherever_they_are_and_no_other_process(two: Two) -> None:
    heard: list[Note] = []
    two.cluster.add("north").subscribe(f"{TEXTS}.east", heard.append)
    two.west.chat.group_texts.line([5, 7], "only here")
    assert heard == []
    two.west.chat.group_texts.line([5, 6, 7], "to all")
    assert last_line(two.one) == last_line(two.other) == "to all"
    assert [json.loads(str(one["to"])) for one in heard] == [[6]]


def test_a_world_of_one_process_publishes_nothing() -> None:
    alone = WorldHarness()
    beside = WorldHarness(beside=alone)
    alone.stand(5)
    beside.stand(6)
    heard: list[Note] = []
    alone.bus.subscribe(f"{TEXTS}.{beside.name}", heard.append)
    alone.chat.group_texts.line([5, 6], "hello")
    assert heard == []


def test_chat_reaches_members_who_do_not_ignore_the_speaker(two: Two) -> None:
    said = note(kind="group", speaker="Aldana")
    two.west.bus.publish(f"{TEXTS}.east", said)
    assert two.other.hears() == [("15", "Aldana", "hello")]
    two.other.types("/ignore Aldana")
    two.west.bus.publish(f"{TEXTS}.east", said)
    assert two.other.hears() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong",
    [{"kind": "shout"}, {"kind": 3}, {"speaker": None}, {"text": b"x"}, {"to": "6"},
     {"to": "[6"}, {"to": '["6"]'}, {"to": None}],
)  # fmt: skip
def test_a_malformed_text_is_dropped_and_counted(two: Two, wrong: dict[str, Any]) -> None:
    before = len(two.other.log)
    two.west.bus.publish(f"{TEXTS}.east", note(**wrong))
    two.west.bus.publish(f"{TEXTS}.east", {})
    assert len(two.other.log) == before
    assert two.east.world.faults.drops[MALFORMED] == 2


def test_a_malformed_question_is_refused_and_counted(two: Two) -> None:
    for wrong in ({}, {"char_id": 6, "inviter": "Aldana", "rank": 0, "declined": "nothing"}):
        with pytest.raises(CommandError, match="cannot be invited"):
            finish(two.west.bus.request(f"{GUESTS}.east", wrong))
    assert two.east.world.faults.drops[MALFORMED] == 2


def test_who_may_be_invited_is_decided_where_the_player_is(two: Two) -> None:
    texts, inviter = two.west.chat.group_texts, two.one.player
    guest = two.west.presence.find(6)
    assert inviter is not None
    assert guest is not None

    def check(option: Option = Option.DECLINE_GROUPS) -> None:
        finish(texts.check_guest_elsewhere(guest, inviter, option))

    check()
    two.other.types("/decline_raids")
    with pytest.raises(CommandError, match="declines such"):
        check(Option.DECLINE_RAIDS)
    two.other.types("/ignore Aldana")
    with pytest.raises(CommandError, match="ignores you"):
        check()
    assert two.other.player is not None
    two.other.player.spawn.hidden = True
    with pytest.raises(CommandError, match="not in the world"):
        check()
    two.cluster.kill("east")
    two.cluster.run(10.0)
    with pytest.raises(CommandError, match="Borvik cannot be reached"):
        check()
