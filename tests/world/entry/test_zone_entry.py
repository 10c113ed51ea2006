import struct
from dataclasses import replace
from functools import partial

import pytest

from emu.ledger import Owner
from emu.model import EntryOrigin
from emu.processes.claiming import UsedKey
from emu.session import Message, SessionClosed, SessionEstablished, Writable
from emu.times import Monotonic
from emu.world.actors.player import Player
from emu.world.entry.zone_entry import (
    CharacterEntered,
    Left,
    ZoneEntryRefusal,
    ZoneEntryRefused,
)
from tests.support.coroutines import finish
from tests.support.running.processes import present
from tests.support.times import APART
from tests.support.world.entries import CHARACTER, EntryHarness, let_in, request

DENIED = bytes(3) + b"\xff" * 8 + bytes(22)
"""What follows the code of a denial (docs/protocol/world/entering.md#login-reply)."""


@pytest.fixture
def harness():
    return EntryHarness()


def test_a_key_lets_its_character_in_with_the_reply_of_eq2emulator(harness: EntryHarness) -> None:
    link, _, _ = let_in(harness)
    # docs/protocol/world/recorded.md#examples: 23 zero bytes and a one, as opcode 4.
    assert link.replies == [(4, bytes(23) + b"\x01")]
    assert harness.events == [CharacterEntered("Aldana", 101, 5, "127.0.0.1", 546)]
    assert harness.presence.is_playing(101)
    assert harness.last == (5, APART)
    assert harness.changes == 1


class TakingHarness(EntryHarness):
    """A world whose keys are in the store of its characters."""

    def __init__(self):
        super().__init__()
        self.calls = []
        self.things = {Owner.character(5): ()}
        self.zone_entry.take = self.take
        self.zone_entry.is_kept_out = self.is_kept_out

    async def take(self, account_id, key):
        self.calls.append("take")
        handoff = await self.keys.redeem(account_id, key)
        return UsedKey(handoff, await super().claim(account_id, 0), self.things)

    async def claim(self, account_id, char_id):
        self.calls.append("claim")
        return await super().claim(account_id, char_id)

    async def is_kept_out(self, account_id, address):
        self.calls.append("is kept out")
        return (account_id, address) == (102, "127.0.0.1")


def test_a_store_with_keys_and_characters_is_asked_once() -> None:
    harness = TakingHarness()
    let_in(harness)
    assert harness.calls == ["take", "is kept out"]
    assert harness.events == [CharacterEntered("Aldana", 101, 5, "127.0.0.1", 546)]
    link, visitor = harness.visit()
    visitor.message(1, request(1, account=7), 1.0)
    assert harness.events[-1].reason is ZoneEntryRefusal.NO_SUCH_KEY
    assert link.closed == 1
    harness.characters[6] = replace(CHARACTER, id=6, account_id=102, name="Borvik")
    key = finish(harness.keys.issue(102, 6, "Borvik"))
    link, visitor = harness.visit()
    visitor.message(1, request(key, account=102), 1.0)
    assert harness.events[-1].reason is ZoneEntryRefusal.BANNED


@pytest.mark.parametrize("is_stored", [True, False])
def test_things_that_came_with_the_key_are_those_of_its_character(
    is_stored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = TakingHarness()
    loaded, real = [], harness.inside.load

    async def load(character, version, things=None):
        loaded.append((character.id, things))
        return await real(character, version)

    monkeypatch.setattr(harness.inside, "load", load)
    monkeypatch.setattr(harness.inside, "has_stored", lambda account_id: is_stored)
    let_in(harness)
    # What another character of the account has just left may be stored after they were read.
    assert loaded == [(5, harness.things if is_stored else None)]


def test_the_key_of_an_account_in_the_world_is_used_before_its_character_is_claimed() -> None:
    harness = TakingHarness()
    let_in(harness)
    harness.calls.clear()
    link, _, _ = let_in(harness)
    assert harness.calls == ["is kept out", "claim"]
    assert link.trusted


def test_a_client_is_trusted_when_it_came_in_and_not_before(harness: EntryHarness) -> None:
    link, visitor = harness.visit()
    visitor.message(1, request(1), 1.0)
    assert not link.trusted
    link, _, _ = let_in(harness)
    assert link.trusted


def test_the_reply_for_561_is_the_recorded_one(harness: EntryHarness) -> None:
    key = finish(harness.keys.issue(101, 5, "Aldana"))
    link, visitor = harness.visit()
    visitor.message(1, request(key, version=561), 1.0)
    expected = (
        bytes(23) + b"\x01" + bytes(8) + bytes.fromhex("bfffc7c6") + bytes.fromhex("03000000")
        + bytes(7) + bytes(4) + bytes.fromhex("02000000") + bytes.fromhex("49020000")
        + struct.pack("<I", 1597830)
    )  # fmt: skip
    assert link.replies == [(4, expected)]


@pytest.mark.parametrize(
    ("size", "layout"), [(34, "<IIIH5I"), (40, "<IIIHH6I")]
)  # fmt: skip
def test_later_layouts_are_known_by_their_length_and_refused_without_ghosts(
    harness: EntryHarness, size: int, layout: str
) -> None:
    key = finish(harness.keys.issue(101, 5, "Aldana"))
    link, visitor = harness.visit()
    numbers = [101, key, 0, 1096] if size == 34 else [101, key, 0, 0, 1208]
    count = 5 if size == 34 else 6
    body = struct.pack(layout, *numbers, *[0] * count)
    assert len(body) == size
    visitor.message(1, body, 1.0)
    assert isinstance(harness.events[0], CharacterEntered)


@pytest.mark.parametrize("size", [31, 34, 40])
def test_a_known_version_at_its_first_place_counts_whatever_the_length(
    harness: EntryHarness, size: int
) -> None:
    """docs/protocol/world/entering.md#login-by-num."""
    key = finish(harness.keys.issue(101, 5, "Aldana"))
    _, visitor = harness.visit()
    visitor.message(1, struct.pack("<IIH", 101, key, 1096).ljust(size, b"\0"), 1.0)
    (entered,) = harness.events
    assert isinstance(entered, CharacterEntered)
    assert entered.version == 1096


@pytest.mark.parametrize(("version", "size"), [(1, 31), (0, 29), (1096, 29), (1096, 9)])
def test_another_request_is_refused(harness: EntryHarness, version: int, size: int) -> None:
    key = finish(harness.keys.issue(101, 5, "Aldana"))
    link, visitor = harness.visit()
    visitor.message(1, struct.pack("<IIH", 101, key, version).ljust(size, b"\0")[:size], 1.0)
    assert harness.events[0].reason is ZoneEntryRefusal.MALFORMED
    assert link.closed == 1
    assert not link.sent


@pytest.mark.parametrize(
    ("version", "missing"),
    [
        (370, "no layout for version 370"), (374, "no layout for version 374"),
        (547, "has no opcode OP_ZoneInfoMsg"), (559, "has no opcode OP_ZoneInfoMsg"),
    ],
)  # fmt: skip
def test_versions_that_only_the_login_serves_are_denied_with_the_code(
    harness: EntryHarness, version: int, missing: str
) -> None:
    """Code 6 is "wrong version" (docs/protocol/login.md#reply-codes)."""
    key = finish(harness.keys.issue(101, 5, "Aldana"))
    link, visitor = harness.visit()
    visitor.message(1, request(key, version=version), 1.0)
    assert link.sent == [(4, b"\x06" + DENIED)]
    assert link.closed == 1
    (refused,) = harness.events
    assert refused.reason is ZoneEntryRefusal.VERSION_NOT_SERVED
    assert missing in refused.detail
    assert not harness.presence.is_playing(101)


def test_a_key_works_once(harness: EntryHarness) -> None:
    _, _, key = let_in(harness)
    link, visitor = harness.visit()
    visitor.message(1, request(key), 2.0)
    assert link.sent == []
    assert link.closed == 1
    assert harness.events[-1] == ZoneEntryRefused("127.0.0.1", ZoneEntryRefusal.NO_SUCH_KEY)
    assert harness.presence.is_playing(101)


@pytest.mark.parametrize(
    "body", [b"", b"\0" * 4, request(999), request(1000, account=102), request(1000, version=400)]
)
def test_the_wrong_are_turned_away_without_a_message(harness: EntryHarness, body: bytes) -> None:
    finish(harness.keys.issue(101, 5, "Aldana"))
    link, visitor = harness.visit()
    visitor.message(1, body, 1.0)
    assert link.sent == []
    assert link.closed == 1
    assert isinstance(harness.events[-1], ZoneEntryRefused)


def test_nothing_else_counts_before_the_key(harness: EntryHarness) -> None:
    link, visitor = harness.visit()
    visitor.message(36, b"\0\0", 1.0)
    assert link.sent == []
    assert link.closed == 0
    assert harness.zone_entry.counters["unknown message"] == 1
    assert harness.events == []


def test_a_session_without_a_key_ends_in_time(harness: EntryHarness) -> None:
    link, visitor = harness.visit(now=5.0)
    assert visitor.get_timer() == 15.0
    visitor.handle_timer(14.0)
    assert link.closed == 0
    visitor.handle_timer(15.0)
    assert link.closed == 1
    visitor.closed("closed by this side", 9.0)
    assert visitor.get_timer() is None


def test_leaving_frees_the_account_at_once(harness: EntryHarness) -> None:
    _, visitor, _ = let_in(harness)
    visitor.closed("closed by peer", 9.0)
    visitor.closed("closed by peer", 9.0)
    assert not harness.presence.is_playing(101)
    assert harness.events[-1] == Left("Aldana", "127.0.0.1", "closed by peer")
    assert harness.changes == 2


def test_a_client_that_comes_back_takes_over_from_the_lost_one(harness: EntryHarness) -> None:
    first, old, _ = let_in(harness)
    harness.presence.lost_link(5)
    second, new, _ = let_in(harness)
    assert first.closed == 1
    assert second.closed == 0
    old.closed("closed by this side", 9.0)
    assert harness.presence.is_playing(101)
    new.closed("closed by peer", 9.0)
    assert not harness.presence.is_playing(101)


def test_the_same_character_is_taken_over_although_its_client_was_heard_a_moment_ago(
    harness: EntryHarness,
) -> None:
    first, old, _ = let_in(harness)
    second, new, _ = let_in(harness)
    assert (first.closed, second.closed) == (1, 0)
    assert len(second.replies) == 1
    sent = len(first.sent), len(second.sent)
    old.message(30, b"", 2.0)
    assert (len(first.sent), len(second.sent)) == sent, "nobody plays in the old session"
    old.closed("closed by this side", 9.0)
    old.closing()
    assert harness.presence.is_playing(101)
    new.message(30, b"", 10.0)
    assert len(second.sent) > sent[1]


def test_a_key_is_needed_to_take_a_character_over(harness: EntryHarness) -> None:
    first, _, used = let_in(harness)
    issued = finish(harness.keys.issue(101, 5, "Aldana"))
    for body in (request(used), request(issued + 1), request(issued, account=102)):
        link, visitor = harness.visit()
        visitor.message(1, body, 2.0)
        assert (link.sent, link.closed, first.closed) == ([], 1, 0)


def test_of_two_who_take_a_character_over_at_once_the_later_one_plays_it(
    harness: EntryHarness,
) -> None:
    let_in(harness)
    keys = [finish(harness.keys.issue(101, 5, "Aldana"))]
    (one, earlier), (two, later) = harness.visit(), harness.visit()

    def meanwhile():
        harness.meanwhile = lambda: None
        keys.append(finish(harness.keys.issue(101, 5, "Aldana")))
        later.message(1, request(keys[1]), 2.0)

    harness.meanwhile = meanwhile
    earlier.message(1, request(keys[0]), 2.0)
    assert (one.closed, two.closed) == (0, 1), "the one who came in last"
    assert harness.presence.players == 1


def test_whom_the_server_sends_away_plays_no_more_before_the_session_is_over(
    harness: EntryHarness,
) -> None:
    _, visitor, key = let_in(harness)
    visitor.message(1, request(key), 2.0)
    visitor.closing()  # the link does that
    assert not harness.presence.is_playing(101)
    second, _, _ = let_in(harness)
    assert second.closed == 0
    visitor.closed("closed by this side", 9.0)
    assert harness.presence.is_playing(101)


def test_another_character_of_an_account_that_plays_is_turned_away(harness: EntryHarness) -> None:
    harness.characters[6] = replace(CHARACTER, id=6)
    first, _, _ = let_in(harness)
    second, late, _ = let_in(harness, 6)
    assert second.sent == [(4, b"\2" + DENIED)]
    assert (first.closed, second.closed) == (0, 1)
    late.closed("closed by this side", 9.0)
    assert harness.presence.is_playing(101)
    assert harness.events[-1] == ZoneEntryRefused("127.0.0.1", ZoneEntryRefusal.ACCOUNT_IN_USE)


def test_a_game_master_comes_in_twice(harness: EntryHarness) -> None:
    harness.characters = {n: replace(CHARACTER, id=n, admin_status=100) for n in (5, 6)}
    for char_id in (5, 6):
        key = finish(harness.keys.issue(101, char_id, "Aldana"))
        link, visitor = harness.visit()
        visitor.message(1, request(key), 1.0)
        assert link.closed == 0
    assert harness.presence.players == 2


@pytest.mark.parametrize(
    ("change", "reported", "reason"),
    [
        (lambda harness: setattr(harness.admission, "locked", True), 9, ZoneEntryRefusal.LOCKED),
        (
            lambda world: [world.presence.entered(present(n, n, 1), lambda: None) for n in (1, 2)],
            9, ZoneEntryRefusal.FULL,
        ),
        (
            lambda harness: harness.characters.update({5: replace(CHARACTER, admin_status=-1)}),
            7, ZoneEntryRefusal.BANNED,
        ),
        (
            lambda harness: harness.characters.update(
                {6: replace(CHARACTER, id=6, admin_status=-2)}
            ),
            7, ZoneEntryRefusal.BANNED,
        ),
        (lambda harness: harness.characters.clear(), 9, ZoneEntryRefusal.CHARACTER_GONE),
        (
            lambda harness: harness.presence.entered(present(101, 6, 1), lambda: None),
            2, ZoneEntryRefusal.ACCOUNT_IN_USE,
        ),
    ],
)  # fmt: skip
def test_what_changed_since_the_key_was_given_counts_at_zone_entry(
    change, reported, reason
) -> None:
    """Until the last moment: while the store is asked, too."""
    for when in ("before", "meanwhile"):
        harness = EntryHarness()
        if when == "before":
            change(harness)
        else:
            harness.meanwhile = partial(change, harness)
        link, _, _ = let_in(harness)
        assert link.sent == [(4, bytes([reported]) + DENIED)]
        assert link.closed == 1
        assert harness.events == [ZoneEntryRefused("127.0.0.1", reason)]
        assert harness.presence.find(5) is None


def test_whoever_leaves_while_the_store_is_asked_is_not_in_the_world(harness: EntryHarness) -> None:
    key = finish(harness.keys.issue(101, 5, "Aldana"))
    link, visitor = harness.visit()
    harness.meanwhile = lambda: visitor.closed("closed by peer", 9.0)
    visitor.message(1, request(key), 1.0)
    assert link.sent == []
    assert harness.presence.players == 0


def test_a_store_that_fails_turns_away(harness: EntryHarness) -> None:
    harness.failing = True
    link, _, _ = let_in(harness)
    assert link.closed == 1
    assert harness.events[-1] == ZoneEntryRefused(
        "127.0.0.1", ZoneEntryRefusal.STORE_FAILED, "disk full"
    )


def test_messages_of_who_is_in_go_inside_and_a_second_key_ends_it(harness: EntryHarness) -> None:
    link, visitor, key = let_in(harness)
    visitor.message(30, b"", 2.0)
    assert 31 in [opcode for opcode, _ in link.sent]
    visitor.message(1, request(key), 3.0)
    assert link.closed == 1
    assert harness.events[-1] == ZoneEntryRefused("127.0.0.1", ZoneEntryRefusal.SECOND_LOGIN)


def test_what_comes_while_the_store_is_asked_waits_and_goes_inside(harness: EntryHarness) -> None:
    key = finish(harness.keys.issue(101, 5, "Aldana"))
    link, visitor = harness.visit()
    harness.meanwhile = lambda: visitor.message(30, b"", 1.5)
    visitor.message(1, request(key), 1.0)
    assert 31 in [opcode for opcode, _ in link.sent]
    assert harness.zone_entry.counters == {}


def test_who_floods_while_the_store_is_asked_is_turned_away(harness: EntryHarness) -> None:
    key = finish(harness.keys.issue(101, 5, "Aldana"))
    link, visitor = harness.visit()
    harness.meanwhile = lambda: [visitor.message(30, b"", 1.5) for _ in range(65)]
    visitor.message(1, request(key), 1.0)
    assert link.closed == 1
    assert harness.events == [ZoneEntryRefused("127.0.0.1", ZoneEntryRefusal.TOO_MANY_MESSAGES)]
    assert harness.presence.players == 0


def test_space_on_the_session_is_passed_on_while_somebody_plays(harness: EntryHarness) -> None:
    _, unknown_peer = harness.visit()
    unknown_peer.drained(1.0)
    link, visitor, _ = let_in(harness)
    reported: list[object] = []
    harness.inside.drained = lambda player, link, now: reported.append((player.name, link, now))
    visitor.drained(2.0)
    visitor.closed("closed by peer", 3.0)
    visitor.drained(4.0)
    assert reported == [("Aldana", link, 2.0)]


@pytest.mark.parametrize("kept_out", [True, False])
def test_an_account_that_is_kept_out_by_now_is_turned_away(
    harness: EntryHarness, kept_out: bool
) -> None:
    asked = []

    async def is_kept_out(account_id: int, address: str) -> bool:
        asked.append((account_id, address))
        return kept_out

    harness.zone_entry.is_kept_out = is_kept_out
    link, _, _ = let_in(harness)
    assert asked == [(101, "127.0.0.1")]
    assert link.closed == int(kept_out)
    if kept_out:
        assert link.sent == [(4, b"\7" + DENIED)]
        assert harness.events == [ZoneEntryRefused("127.0.0.1", ZoneEntryRefusal.BANNED)]
        assert harness.presence.find(5) is None


def test_who_changes_the_zone_comes_in_through_a_lock(harness: EntryHarness) -> None:
    harness.admission.locked = True
    key = finish(harness.keys.issue(101, 5, "Aldana", 0, EntryOrigin.ZONE_HIDDEN))
    link, visitor = harness.visit()
    visitor.message(1, request(key), 1.0)
    assert link.closed == 0
    assert not harness.presence.find(5).hidden, "a player without a rank is not hidden"
    harness.characters[5] = replace(CHARACTER, admin_status=10)
    key = finish(harness.keys.issue(101, 5, "Aldana", 10, EntryOrigin.ZONE))
    harness.presence.lost_link(5)
    again, visitor = harness.visit()
    visitor.message(1, request(key), 2.0)
    assert again.closed == 0


def test_each_event_of_a_session_is_handled(harness: EntryHarness) -> None:
    link, visitor, key = let_in(harness)
    drained: list[str] = []
    harness.inside.drained = lambda player, link, now: drained.append(player.name)
    visitor.handle_event(Writable(), 2.0)
    assert drained == ["Aldana"]
    visitor.handle_event(SessionEstablished(1), 2.0)
    visitor.handle_event(Message(1, request(key)), 3.0)
    assert link.closed == 1, "a second login by number"
    visitor.handle_event(SessionClosed("closed by this side"), 4.0)
    visitor.handle_event(Writable(), 5.0)
    assert drained == ["Aldana"]
    assert visitor.held_bytes() == 0


def test_no_client_plays_on_after_a_fault_with_its_message(harness: EntryHarness) -> None:
    _link, visitor, _key = let_in(harness)

    def fails(player: Player, opcode: int, body: bytes, now: Monotonic) -> None:
        raise RuntimeError("a fault")

    ended: list[str] = []
    harness.inside.message = fails
    harness.inside.closed = lambda player, link, reason, now: ended.append(reason)
    with pytest.raises(RuntimeError):
        visitor.handle_event(Message(30, b""), 2.0)
    assert ended == ["ended by the server"]
