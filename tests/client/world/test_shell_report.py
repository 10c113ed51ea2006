"""How events are shown to people and programs."""

import json
from dataclasses import replace

import pytest

from emu.client.events import Closed, Unexpected
from emu.client.world.events import (
    Appeared,
    BlowSeen,
    CampBegun,
    CampStopped,
    CastBegun,
    CastRefused,
    ChannelChanged,
    ChannelMembers,
    DeathSeen,
    DialogClosed,
    DialogOpened,
    Emoted,
    GroupOffered,
    GuildMemberChanged,
    GuildMemberLeft,
    GuildMemberRow,
    GuildMembersListed,
    GuildOffered,
    GuildShown,
    Heard,
    LineShown,
    OptionRow,
    OptionsShown,
    PutSomewhere,
    Refused,
    RevivalOffered,
    ScreenShown,
    Stood,
    Updated,
    Vanished,
    WayRow,
    WaysShown,
    WhoListed,
    ZoneLeft,
    ZoneToLoad,
)
from emu.client.world.shell import as_lines, as_records
from emu.world_stream.ghosts import CREATE_GHOST, INFO, POSITION
from tests.client.world.test_shell_lines import standing
from tests.support.world.ghost_writer import GhostWriter

MEMBER = GuildMemberRow(6, "Borvik", 3, 7, "Antonica", "Bakes bread", "")
PRINTED = [
    (ZoneToLoad("antonica", "Antonica", "Aldana", 1, 2, 3), ["Aldana enters Antonica (antonica)"]),
    (Stood(), ["you stand at 0.00, 0.00, 0.00"]),
    (Refused(6, "wrong version"), ["the world refuses you: wrong version (code 6)"]),
    (Appeared(2, "Borvik"), ["+ Borvik at 30.00, 0.00, 0.00, 30.0 away"]),
    (Appeared(1, "Aldana"), ["+ Aldana (you) at 0.00, 0.00, 0.00, 0.0 away"]),
    (Vanished(9, ""), ["- something"]),
    (Heard("say", "Borvik", "", "hi", "", 2), ["[say] Borvik: hi"]),
    (Emoted(2, "Borvik waves.", 883), ["* Borvik waves. (animation 883)"]),
    (BlowSeen(1, 2, 7), ["you -> Borvik: 7"]),
    (BlowSeen(2, 1, 0), ["Borvik -> you: nothing"]),
    (CastRefused(34), ["that is refused (code 34)"]),
    (CastBegun("Smite", 2.0), ["you begin Smite (2.0 s)"]),
    (DeathSeen(0xFFFFFFFF, 2), ["Borvik dead, killed by something"]),
    (
        RevivalOffered(((2, "The Docks"),)),
        ["you are dead; 1 way back, by revive", "  2: The Docks"],
    ),
    (Heard("tell", "Borvik", "Aldana", "hi", "", 2), ["[tell] Borvik to Aldana: hi"]),
    (Heard("custom", "Borvik", "", "hi", "trade", 2), ["[trade] Borvik: hi"]),
    (LineShown("system", "hi"), ["hi"]),
    (LineShown("error", "no"), ["(error) no"]),
    (ScreenShown("Beware"), ["*** Beware ***"]),
    (WhoListed((("Borvik", 3, "Antonica"),)), ["1 player", "  Borvik, level 3, Antonica"]),
    (ChannelChanged("joined", "trade", "Borvik"), ["Borvik joined trade"]),
    (ChannelMembers("trade", ("Aldana", "Borvik")), ["trade: Aldana, Borvik"]),
    (GroupOffered("Aldana"), ["Aldana invites you to a group"]),
    (GuildOffered("Aldana", "The Wolves"), ["Aldana invites you to The Wolves"]),
    (GuildShown(1, "The Wolves", "Hi", ("Leader",)), ["guild The Wolves: Hi"]),
    (GuildShown(1, "The Wolves", "", ("Leader",)), ["guild The Wolves"]),
    (GuildShown(0, "", "", ("",)), ["you are in no guild"]),
    (
        GuildMembersListed((MEMBER,)),
        ["guild: 1 member", "  Borvik, rank 7, level 3, Antonica: Bakes bread"],
    ),
    (GuildMemberChanged(replace(MEMBER, zone="", note="")), ["guild: Borvik, rank 7, level 3"]),
    (GuildMemberLeft(6), ["guild: 6 is no member any more"]),
    (CampBegun(20), ["you camp: 20 seconds to go"]),
    (CampStopped(), ["you camp no more"]),
    (PutSomewhere(1, 2, 3, 90), ["you are put at 1.00, 2.00, 3.00"]),
    (ZoneLeft("127.0.0.1", 9001), ["on the way to another zone, at 127.0.0.1:9001"]),
    (DialogOpened(1, "Guard", "Halt", ("Why?", "Bye")), ["Guard: Halt", "  1. Why?", "  2. Bye"]),
    (DialogClosed(1), ["the dialog is closed"]),
    (
        OptionsShown("Leave?", (OptionRow(" Yes", "Go away", "leave"),), "Cancel"),
        ["Leave?; choose one with choose NAME", "  Yes: Go away"],
    ),
    (
        WaysShown(9, (WayRow(51, "North", "Antonica", 3),)),
        ["1 destination; take one with travel NAME", "  North (Antonica), 3 copper"],
    ),
    (Unexpected(67, "", "too short"), ["67 cannot be read: too short"]),
    (Closed("closed by peer"), ["the session is over: closed by peer"]),
]


@pytest.mark.parametrize(("event", "lines"), PRINTED)
def test_every_event_has_its_lines_and_its_record(event, lines: list[str]) -> None:
    core, _ = standing()
    assert list(as_lines(event, core)) == lines
    (record,) = as_records(event, core)
    assert json.loads(json.dumps(record))["event"] == type(event).__name__


def test_updates_show_the_changes() -> None:
    core, _ = standing()
    writer, seen = GhostWriter(), core.surroundings
    assert seen is not None
    seen.create(CREATE_GHOST, writer.create(2, info={"name": "Borvik"}))
    moved = writer.changed(POSITION, 2, {"pos_x": 3.0})
    sat = writer.changed(INFO, 2, {"visual_state": 538})
    update = seen.update(writer.update(7, [sat, moved]))
    event = Updated(update.time, tuple(update.entries))
    assert list(as_lines(event, core)) == [
        "~ Borvik: visual_state 538", "~ Borvik at 3.00, 0.00, 0.00, 3.0 away"
    ]  # fmt: skip
    assert [(one["ghost"], one["part"], one["fields"]) for one in as_records(event, core)] == [
        (2, "info", {"visual_state": 538}), (2, "position", {"pos_x": 3.0})
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"hp_remaining": 100 ^ 25}, "health 25 %"),
        ({"hp_remaining": 100}, "health 0 %"),
        ({"target_id": 3}, "target Old Fenwick"),
        ({"target_id": 1}, "target you"),
        ({"target_id": 0xFFFFFFFF - 3}, "target Old Fenwick"),
        ({"follow_target": 0xFFFFFFFF}, "follow_target none"),
    ],
)  # fmt: skip
def test_updates_show_health_in_percent_and_names_of_targets(
    fields: dict[str, int], line: str
) -> None:
    core, _ = standing()
    writer, seen = GhostWriter(), core.surroundings
    assert seen is not None
    seen.create(CREATE_GHOST, writer.create(2, info={"name": "Borvik"}))
    update = seen.update(writer.update(7, [writer.changed(INFO, 2, fields)]))
    event = Updated(update.time, tuple(update.entries))
    assert list(as_lines(event, core)) == [f"~ Borvik: {line}"]
