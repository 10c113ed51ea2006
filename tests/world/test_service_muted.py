"""Every way by which words of a player reach others, and what a mute leaves of them."""

from __future__ import annotations

import pytest

from emu.commands import Caller
from emu.model import Title
from tests.support.coroutines import finish
from tests.support.world.worlds import WorldHarness

WORD = "Xyzzy"
LINES = (
    f"/say {WORD}", f"/emote {WORD}", f"/shout {WORD}", f"/ooc {WORD}", f"/tell Hearer {WORD}",
    f"/tellchannel Trade {WORD}", f"/gsay {WORD}", f"/afk {WORD}", f"/title setsuffix {WORD}",
    "/invite Stray", "/hail", f"/broadcast {WORD}", f"/announce {WORD}", f"/setmotd {WORD}",
    f"/spawn {WORD}", f"/givetitle Hearer {WORD}", f"/mute Hearer 1 {WORD}",
)  # fmt: skip
"""What a player types, a game master even."""


def scene() -> WorldHarness:
    harness = WorldHarness()
    speaker = harness.stand(5, name="Speaker", admin_status=100, titles=(Title(WORD),))
    for char_id, name in ((6, "Hearer"), (7, "Stray")):
        harness.stand(char_id, name=name)
    hearer = client_of(harness, 6)
    for client in (speaker, hearer):
        client.types("/joinchannel Trade")
    speaker.types("/invite Hearer")
    hearer.types("/accept")
    harness.run(1.0)
    return harness


def client_of(harness: WorldHarness, char_id: int):  # type: ignore[no-untyped-def]
    player = harness.world.players.get(char_id)
    assert player is not None
    return player.client.link


def words_heard(harness: WorldHarness, line: str) -> bool:
    """Return whether others were sent more than before because of a line."""
    speaker = client_of(harness, 5)
    others = [client_of(harness, char_id) for char_id in (6, 7)]
    before = [len(other.log) for other in others]
    speaker.types(line)
    others[1].types("/tell Speaker are you there")
    harness.run(1.0)
    sent = [
        payload
        for other, number in zip(others, before, strict=True)
        for _, payload in other.log[number:]
    ]
    for other, number in zip(others, before, strict=True):
        other.log = other.log[number:]
    marks = (WORD, "Hail", "invites you")
    texts = [
        str(text)
        for other in others
        for struct, field in (("WS_HearChat", "message"), ("WS_DisplayText", "text"),
                              ("WS_OnScreenMsg", "text"))
        for text in [row[field] for row in other.decoded(struct)]
    ]  # fmt: skip
    shown = WORD in repr([other.sees() for other in others])
    titles = WORD in client_of(harness, 5).player.spawn.suffix
    stored = WORD in harness.world.rules.motd
    in_bytes = any(WORD.encode() in payload for payload in sent)
    return shown or titles or stored or in_bytes or any(m in t for m in marks for t in texts)


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES)
def test_what_reaches_others_does_so_no_more_while_the_account_is_muted(line: str) -> None:
    assert words_heard(scene(), line), "the same line, without a mute"
    harness = scene()
    harness.run(70.0)  # invitations of the scene are over
    harness.console("mute Speaker 10")
    assert client_of(harness, 5).types(line)[0] == "you are muted"
    assert not words_heard(harness, line)


OTHER_LINES = (
    "/raidinvite Stray", "/readycheck", "/random 1 6", "/lastname Oakheart", "/confirmedlastname",
    "/spawn save meadow", "/cannedemote wave", f"/guild create {WORD}", f"/setmotd {WORD}",
)  # fmt: skip


def test_each_command_that_shows_others_something_is_refused_while_muted() -> None:
    """docs/guides/operating.md: a muted player cannot use a command that shows text to others."""
    harness = scene()
    speaker = client_of(harness, 5)
    harness.console("mute Speaker 10")
    for line in OTHER_LINES:
        assert speaker.types(line)[0] == "you are muted", line
    harness.console("unmute Speaker")
    for line in OTHER_LINES:
        assert "you are muted" not in speaker.types(line), line


def test_a_text_that_was_given_before_the_mute_is_not_reported_either() -> None:
    harness = scene()
    speaker, stray = client_of(harness, 5), client_of(harness, 7)
    speaker.types(f"/afk {WORD}")
    harness.console("mute Speaker 10")
    stray.types("/tell Speaker hello")
    assert stray.hears()[-1][2] == "I am away from the keyboard"
    harness.console("unmute Speaker")
    stray.types("/tell Speaker hello")
    assert stray.hears()[-1][2] == WORD


@pytest.mark.parametrize("line", ["broadcast hello", "announce hello", "setmotd hello"])
def test_the_account_is_muted_at_the_page_too(line: str) -> None:
    harness = scene()
    page = Caller("speaker", 200, "web", account_id=105)
    assert finish(harness.registry.run(page, line, harness.now)).ok
    harness.console("mute Speaker 10")
    assert finish(harness.registry.run(page, line, harness.now)).text == "you are muted"
    harness.console("kick Speaker")
    assert finish(harness.registry.run(page, line, harness.now)).text == "you are muted"
    assert harness.console(line).ok, "the operator is nobody's account"


def test_who_is_muted_may_still_go_away_and_lay_titles_down() -> None:
    harness = scene()
    harness.console("mute Speaker 10")
    speaker = client_of(harness, 5)
    assert speaker.types("/afk")[0] == "You are now afk."
    assert speaker.types("/title setsuffix none")
    assert speaker.types("/chatleave Trade") == []
