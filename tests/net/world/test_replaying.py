"""A replay shows the same events as happened, in a world of its own and without a network."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from emu.net.client.world_connection import ClientWorldConnection
from emu.net.world.recordings import read_file
from emu.net.world.replaying import Happening, Replay, recorded_events
from emu.world.recording.recording import Recording
from tests.simulation.content import KEEPER, KEEPER_SCRIPT, SCRIPT
from tests.support.world.recorded_play import RecordedPlay


async def hail(client: ClientWorldConnection) -> None:
    """Hail the creature with a script, which answers with numbers."""
    seen = client.core.surroundings
    assert seen is not None
    index = seen.find(KEEPER)
    assert index is not None
    client.act(lambda core: core.target(index))
    await client.pause(0.5)
    client.command("hail")
    await client.pause(4.0)


async def fight(client: ClientWorldConnection) -> None:
    """Strike a wolf, walk, and report a fault."""
    await hail(client)
    seen = client.core.surroundings
    assert seen is not None
    index = next(one for one in seen if " wolf of " in seen.name(one))
    client.act(lambda core: core.target(index))
    client.command("attack")
    await client.pause(6.0)
    client.command("tell Simoneb meet me at the bridge")
    client.command("bug the wolf hides my secret")
    await client.pause(6.0)
    client.command("bug and again")
    await client.pause(2.0)


async def walk(client: ClientWorldConnection) -> None:
    """Walk to and fro, and speak."""
    for number in range(4):
        here = client.core.place
        client.walk_to(here.x + (-1) ** number * 6.0, here.y, here.z)
        await client.arrival(timeout=10.0)
        client.command(f"say step {number}")
        await client.pause(1.0)
    await client.pause(60.0)


class Played:
    def __init__(self, folder: Path, seconds: float, *plays: Any, **settings: object) -> None:
        self.play = RecordedPlay(folder, **settings)
        self.path, *self.later = self.play.play(seconds, *plays)
        self.recording = read_file(self.path)
        self.happened = recorded_events(self.recording)

    def replay(self, **options: Any) -> Replay:
        return Replay(self.recording, self.play.config, **options)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return Played(tmp_path_factory.mktemp("played"), 30.0, fight, walk)


def plain(events: list[Happening]) -> list[tuple[str, str]]:
    return [(one.kind, one.text) for one in events]


@pytest.mark.slow
def test_a_replayed_report_of_a_fault_shows_the_same_events_as_happened(played: Played) -> None:
    assert {
        "Entered",
        "Hailed",
        "ItemObtained",
        "SpawnSpoke",
        "Hurt",
        "Spoken",
        "FaultReported",
    } <= {one.kind for one in played.happened}
    problems: list[str] = []
    found = list(played.replay(report=problems.append).play())
    assert [str(one) for one in found] == [str(one) for one in played.happened]
    assert not problems
    # And once more.
    assert plain(list(played.replay().play())) == plain(found)


@pytest.mark.slow
def test_a_second_recording_of_a_zone_has_the_seeds_of_both_times(played: Played) -> None:
    [path] = played.later
    recording = read_file(path)
    found = list(Replay(recording, played.play.config).play())
    assert plain(found) == plain(recorded_events(recording))
    assert len(found) > len(played.happened)


@pytest.mark.slow
def test_a_file_has_neither_private_words_nor_addresses(played: Played) -> None:
    text = "\n".join(played.recording.lines())
    assert "step 1" in text
    for private in ("bridge", "secret", "10.1.0"):
        assert private not in text


@pytest.mark.slow
def test_a_player_from_another_node_does_not_log_in(played: Played) -> None:
    made = [
        (is_own, dataclasses.replace(one, data=(
            dataclasses.replace(one.data[0], is_from_node=True),
        )) if one.kind == "enter" else one)
        for is_own, one in played.recording.entries
    ]  # fmt: skip
    sent = Recording(played.recording.header, played.recording.snapshot, made)
    kinds = [
        {one.kind for one in Replay(recording, played.play.config).play()}
        for recording in (played.recording, sent)
    ]
    assert ["LoggedIn" in one for one in kinds] == [True, False]
    assert all("Arrived" in one for one in kinds)


@pytest.mark.slow
def test_a_replay_stops_at_a_time(played: Played) -> None:
    found = list(played.replay().play(5.0))
    assert plain(found) == plain([one for one in played.happened if one.after <= 5.0])
    assert 0 < len(found) < len(played.happened)


@pytest.mark.slow
def test_a_replay_shows_who_stands_where(played: Played) -> None:
    replay = played.replay()
    for one in replay.play():
        if one.kind == "Hurt":
            break
    [first, target, _other] = replay.scene()
    assert first.startswith("Simonea at ")
    assert "target a grey wolf of the isle" in first
    assert target.startswith("  a grey wolf of the isle at ")
    assert "Hurt" in replay.kinds()


@pytest.mark.slow
def test_a_script_may_be_changed_between_two_replays(played: Played, tmp_path: Path) -> None:
    path = tmp_path / SCRIPT
    path.parent.mkdir(parents=True)
    path.write_text(KEEPER_SCRIPT.replace("your number is", "you get"), encoding="utf-8")
    found = list(played.replay(scripts=tmp_path).play())
    changed = [
        (kind, text.replace("your number is", "you get")) for kind, text in plain(played.happened)
    ]
    assert plain(found) == changed
    assert changed != plain(played.happened)


@pytest.mark.slow
def test_a_zone_that_runs_for_long_is_replayed_from_a_snapshot(tmp_path: Path) -> None:
    async def late(client: ClientWorldConnection) -> None:
        await client.pause(25.0)
        await hail(client)
        client.command("bug late")
        await client.pause(1.0)

    played = Played(tmp_path, 40.0, late, walk, **{"world.record_seconds": 10})
    assert played.recording.snapshot is not None
    replay = played.replay()
    found = list(replay.play())
    kinds = ("Targeted", "Hailed", "FaultReported")
    # The timers of the script have begun anew.
    assert plain([one for one in found if one.kind in kinds]) == plain(
        [one for one in played.happened if one.kind in kinds]
    )
    assert len([one for one in replay.scene() if one.startswith("Simone")]) == 2
