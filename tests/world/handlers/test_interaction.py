import struct
from pathlib import Path

import pytest

from emu.world.actors.player import PlayerState
from emu.world.actors.spawn import Spawn, SpawnKind, Verb
from emu.world.population.atlas import read_atlas
from emu.world_stream.movement import Position
from tests.support.world.worlds import Client, WorldHarness
from tests.support.world.zone_files import write_zones, zone_text

THINGS = """
[[spawn]]
kind = "sign"
name = "a bell"
place = [2.0, 2.0, 3.0]
sign = { title = "To the other", text = "Ring." }
verbs = [{ name = "Ring the bell", command = "use" }, { name = "Look", command = "look" }]
to = { zone = "Other", place = [7.0, 8.0, 9.0, 45.0] }

[[spawn]]
kind = "widget"
name = "a door"
place = [3.0, 2.0, 3.0]
to = { zone = "Mine", place = [20.0, 2.0, 30.0] }

[[spawn]]
kind = "sign"
name = "a notice"
place = [3.0, 2.0, 4.0]
sign = { title = "Notice", text = "Nothing to see." }
verbs = [{ name = "Read" }]

[[spawn]]
kind = "sign"
name = "a far notice"
place = [60.0, 2.0, 3.0]
sign = { text = "Far." }
verbs = [{ name = "Read", distance = 10.0 }]

[[spawn]]
kind = "sign"
name = "a gate"
place = [60.0, 2.0, 3.0]
sign = { text = "Near." }
widget = { id = 7, place = [3.0, 2.0, 6.0], with_place = false }
verbs = [{ name = "Read", distance = 10.0 }]

[[spawn]]
kind = "sign"
name = "a dead end"
place = [3.0, 2.0, 5.0]
to = { zone = 999 }

[[spawn]]
kind = "npc"
name = "Ann"
place = [4.0, 2.0, 3.0]
verbs = [{ name = "Hail" }, { name = "Sell To Broker" }]
"""


@pytest.fixture
def harness(tmp_path: Path) -> WorldHarness:
    files = {"mine": zone_text(900, "Mine", THINGS), "other": zone_text(901, "Other")}
    return WorldHarness(atlas=read_atlas(write_zones(tmp_path, **files)))


def index_of(client: Client, name: str) -> int:
    (spawn,) = [one for one in client.player.zone if one.name == name]
    index = client.player.index_of(spawn)
    assert index is not None
    return index


def chooses(client: Client, name: str, verb: str | None) -> None:
    body = struct.pack("<I", index_of(client, name))
    if verb is not None:
        body += struct.pack("<H", len(verb)) + verb.encode()
    client.say("OP_EntityVerbsVerbMsg", body)


def lines(client: Client) -> list[str]:
    return [row["text"] for row in client.decoded("WS_DisplayText")]


@pytest.mark.parametrize("version", [546, 561])
@pytest.mark.parametrize("verb", ["Ring the bell", "use", "ring THE bell", None, ""])
def test_a_way_to_another_zone_is_used_by_text_command_or_click(
    harness: WorldHarness, version: int, verb: str | None
) -> None:
    client = harness.stand(1, version, zone_id=900)
    chooses(client, "a bell", verb)
    harness.run(0.1)
    assert client.player.state is PlayerState.ZONING
    assert client.player.journey.destination == (901, Position(7.0, 8.0, 9.0, 45.0))
    assert "OP_ChangeZoneMsg" in client.names


def test_a_way_leads_nobody_into_a_zone_that_it_may_not_enter(tmp_path: Path) -> None:
    """The levels of a zone count for all its ways (docs/guides/travel.md#access)."""
    files = {"mine": zone_text(900, "Mine", THINGS), "other": zone_text(901, "Other")}
    files["other"] = files["other"].replace("[zone]", "[zone]\nmin_level = 50", 1)
    harness = WorldHarness(atlas=read_atlas(write_zones(tmp_path, **files)))
    client = harness.stand(1, zone_id=900)
    chooses(client, "a bell", None)
    harness.run(0.1)
    assert client.player.state is PlayerState.STANDING
    assert "OP_ChangeZoneMsg" not in client.names


def test_a_door_inside_the_zone_puts_one_elsewhere(harness: WorldHarness) -> None:
    client = harness.stand(1, zone_id=900)
    chooses(client, "a door", None)
    assert client.player.position[:3] == (20.0, 2.0, 30.0)
    assert client.decoded("WS_MoveClient")[-1]["x"] == 20.0


def test_a_sign_is_read(harness: WorldHarness) -> None:
    client = harness.stand(1, zone_id=900)
    chooses(client, "a notice", "Read")
    assert lines(client)[-1] == "Nothing to see."


def test_what_is_too_far_away_is_not_used(harness: WorldHarness) -> None:
    client = harness.stand(1, zone_id=900)
    chooses(client, "a far notice", "Read")
    assert lines(client)[-1] == "You are too far away!"


def test_a_sign_is_where_its_part_of_the_model_is(harness: WorldHarness) -> None:
    client = harness.stand(1, zone_id=900)
    chooses(client, "a gate", "Read")
    assert lines(client)[-1] == "Near."


def test_a_way_into_a_zone_that_is_not_there_is_closed(harness: WorldHarness) -> None:
    client = harness.stand(1, zone_id=900)
    chooses(client, "a dead end", None)
    assert lines(client)[-1] == "This way is closed."
    assert client.player.state is PlayerState.STANDING
    assert harness.world.faults.drops["way leads nowhere"] == 1


def test_a_verb_that_is_a_command_runs_it_with_the_spawn_as_target(harness: WorldHarness) -> None:
    client = harness.stand(1, zone_id=900)
    chooses(client, "Ann", "Hail")
    assert [text for _, _, text in client.hears()] == ["Hail, Ann"]


@pytest.mark.parametrize("verb", ["Sell To Broker", "sell_to_broker"])
def test_a_verb_that_nothing_stands_behind_says_so(harness: WorldHarness, verb: str) -> None:
    client = harness.stand(1, zone_id=900)
    chooses(client, "Ann", verb)
    assert harness.world.faults.drops["verb does nothing"] == 1
    [shown] = client.decoded("WS_DisplayText")[-1:]
    # In the color of "You are too far away!" (content-546-IsleRefuge1).
    assert (shown["color"], shown["text"]) == (5, "Nothing happens.")


def test_the_verb_of_a_broker_says_that_there_is_none(harness: WorldHarness) -> None:
    """The command and its text are those of the content's list 20 of verbs."""
    client = harness.stand(1, zone_id=900)
    assert client.player is not None
    broker = Spawn(
        harness.world.zones.next_spawn_id(), SpawnKind.NPC, "Broker", client.player.position,
        verbs=(Verb("Find Items", 5.0, "frombroker", is_command=True),),
    )  # fmt: skip
    client.player.zone.add_spawn(broker, harness.now)
    harness.run(1.0)
    for chosen in ("frombroker", "Find Items"):
        chooses(client, broker.name, chosen)
        assert lines(client)[-1] == "This server has no broker."


def test_a_verb_with_the_first_word_of_commands_runs_none_of_them(harness: WorldHarness) -> None:
    client = harness.stand(1, zone_id=900)
    assert client.player is not None
    station = Spawn(
        harness.world.zones.next_spawn_id(), SpawnKind.OBJECT, "an anvil", client.player.position,
        verbs=(Verb("Quest", 10.0, "quest"),),
    )  # fmt: skip
    client.player.zone.add_spawn(station, harness.now)
    harness.run(1.0)
    chooses(client, "an anvil", "Quest")
    assert lines(client)[-1] == "Nothing happens."


def test_a_verb_that_the_spawn_does_not_offer_is_counted(harness: WorldHarness) -> None:
    client = harness.stand(1, zone_id=900)
    for verb in ("kick", "shutdown"):
        chooses(client, "Ann", verb)
    assert harness.world.faults.drops["verb unknown"] == 2


@pytest.mark.parametrize("index", [0, 40_000, 0xFFFF])
def test_what_a_client_does_not_see_it_cannot_use(harness: WorldHarness, index: int) -> None:
    client = harness.stand(1, zone_id=900)
    client.say("OP_EntityVerbsVerbMsg", struct.pack("<IH", index, 0))
    client.say("OP_EntityVerbsRequestMsg", struct.pack("<I", index))
    assert harness.world.faults.drops["spawn unknown"] == 2
    assert "OP_EntityVerbsReplyMsg" not in client.names


@pytest.mark.parametrize(
    "body", [b"", b"\1", struct.pack("<I", 0x10000), struct.pack("<IH", 1, 60_000), bytes(64)]
)
def test_malformed_choices_have_no_effect(harness: WorldHarness, body: bytes) -> None:
    client = harness.stand(1, zone_id=900)
    before = len(client.log)
    client.say("OP_EntityVerbsVerbMsg", body)
    client.say("OP_EntityVerbsRequestMsg", body[:3])
    assert len(client.log) == before
    assert not client.is_closed


@pytest.mark.parametrize("version", [546, 561])
def test_a_client_is_sent_what_can_be_done(harness: WorldHarness, version: int) -> None:
    client = harness.stand(1, version, zone_id=900)
    index = index_of(client, "a bell")
    client.say("OP_EntityVerbsRequestMsg", struct.pack("<I", index))
    (reply,) = client.decoded("WS_EntityVerbsResponse")
    assert reply["spawn_id"] == index
    assert [(row["command"], row["display_text"]) for row in reply["verbs_array"]] == [
        ("use", "Ring the bell"),
        ("look", "Look"),
    ]
