"""The table of emotes, and who sees an emote."""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.errors import FileFormatError
from emu.world.actors.player import Relation
from emu.world.speech.emotes import read_emotes
from tests.support.world.worlds import Client, WorldHarness

GOOD = """
versions = [[284, 561]]
[moods]
none = 1
[emotes]
wave = { animations = [883], text = "waves", target = "waves at {target}" }
[gestures]
orate = [401]
"""


def emotes(client: Client) -> list[tuple[int, str, int]]:
    return [
        (one["spawn_id"], one["emote_msg"], one["anim_type"])
        for one in client.decoded("WS_CannedEmote")
    ]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("[883]", "[883, 884]", "one animation for each"),
        ("[883]", "[70000]", "0 to 65535"),
        ("at {target}", "at you", "must contain {target}"),
        ('text = "waves", ', "", "must have animations, text and target"),
        ("[[284, 561]]", "[[284]]", "first, last"),
        ("none = 1", 'none = "1"', "must be a number"),
        ("[401]", "[401, 402]", "one animation for each"),
        ("[401]", "[-1]", "0 to 65535"),
    ],
)
def test_a_wrong_table_is_refused(tmp_path: Path, old: str, new: str, fault: str) -> None:
    path = tmp_path / "emotes.toml"
    path.write_text(GOOD)
    read_emotes(path)
    other = tmp_path / "wrong.toml"
    other.write_text(GOOD.replace(old, new))
    with pytest.raises(FileFormatError, match=fault):
        read_emotes(other)


def test_the_shipped_table_has_the_animations_of_each_version() -> None:
    """docs/protocol/world/commands.md#emotes."""
    table = read_emotes()
    wave = table.emotes["wave"]
    assert [table.animation(wave, version) for version in (546, 561, 1208, 60114)] == [
        883, 883, 13287, 13287,
    ]  # fmt: skip
    assert len(table.emotes) > 100


def test_an_emote_is_seen_by_those_near(harness: WorldHarness) -> None:
    one, near, far, angry = (
        harness.stand(number, name=name)
        for number, name in ((5, "Aldana"), (6, "Borvik"), (7, "Cestra"), (8, "Doran"))
    )
    far.player.teleport(far.player.position._replace(x=500.0), harness.now)
    angry.player.relations.add_name(Relation.IGNORED, "Aldana")
    harness.run(1.0)
    assert one.types("cannedemote wave") == []
    index = near.player.index_of(one.player.spawn)
    assert emotes(near) == [(index, "Aldana waves.", 883)]
    assert emotes(one) == [(1, "Aldana waves.", 883)]
    assert emotes(far) == emotes(angry) == []


def test_an_emote_names_the_target(harness: WorldHarness) -> None:
    one, near = harness.stand(5, name="Aldana"), harness.stand(6, name="Borvik")
    harness.run(1.0)
    one.types("target bor")
    one.types("cannedemote wave")
    [shown] = near.decoded("WS_CannedEmote")
    assert shown["emote_msg"] == "Aldana waves at Borvik."
    assert shown["target"] == 1


def test_an_emote_does_not_name_a_hidden_target(harness: WorldHarness) -> None:
    one = harness.stand(5, name="Aldana", admin_status=100)
    near = harness.stand(6, name="Borvik")
    master = harness.stand(7, name="Boss", admin_status=100)
    harness.run(1.0)
    one.types("target boss")
    master.types("/hide")
    one.types("cannedemote wave")
    assert emotes(near)[-1][1] == "Aldana waves."
    assert emotes(one)[-1][1] == emotes(master)[-1][1] == "Aldana waves at Boss."
