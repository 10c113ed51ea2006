"""The mail window: the recorded bytes, every version, notices, and what is refused."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

import pytest
from twisted.internet.defer import Deferred

from emu.correspondence import LONGEST_BODY, LONGEST_SUBJECT, Postage, SendResult, clean
from emu.errors import STORE_FAULT, StoreAway, StoreError
from emu.structs import shipped_catalog
from emu.times import Moment
from emu.world.rules import WorldRules
from emu.world.social.mail import UNREAD, WAITING
from tests.support.coroutines import finish
from tests.support.world.ghost_views import dialect
from tests.support.world.worlds import Client, WorldHarness

POSTAGE = Postage(price=10, lasts=1e12, most=9, most_of_one=9)
VERSIONS = (546, 561, 1096, 1208, 60114, 64753)
RECORDED_BOX = {
    546: (
        "10000000010600000055000000050048656c6c6f0a00416c64616b656579647a000001008d270000ffffffff"
        "0000000000000000000000000000000000000000ff00000000000a00000032000000f40100000000"
    ),
    561: (
        "0f00000001080000005c000000050048656c6c6f0a00416c7273736c7a746b6a000001008d270000ffffffff"
        "000000000000000000000000000000000000fe1cff00000000000a00000032000000f40100000000"
    ),
}
RECORDED_WINDOW = {
    546: "0007000000030000000000000000000000" "00000000ff00000000000000000000000000",
    561: "0007000000030000000000000000000000" "0000fe1cff00000000000000000000000000",
}  # fmt: skip


def rich(harness: WorldHarness, char_id: int, version: int = 546, **changes: object) -> Client:
    return harness.stand(char_id, version, **{"coins": 1000} | changes)


def write(client: Client, to: str, subject: str = "Hello", body: str = "How are you?") -> int:
    """Send a letter by the client's window; return the result that it is sent."""
    layout = client.dialect.layout("WS_MailSendMessage")
    fields = {"player_to": to, "subject": subject, "mail_body": body}
    client.say("OP_MailSendMessageMsg", layout.encode(fields))
    return int(client.decoded("WS_MailSendMessageReply")[-1]["reply_type"])


def lines(client: Client) -> list[str]:
    return [row["text"] for row in client.decoded("WS_DisplayText")]


@pytest.mark.parametrize("version", RECORDED_BOX)
def test_a_mailbox_has_the_recorded_bytes(version: int) -> None:
    layout = shipped_catalog().layout("WS_GetMailHeader", version)
    recorded = bytes.fromhex(RECORDED_BOX[version])
    fields = layout.decode(recorded)
    [letter] = fields["message_array"]
    assert (letter["subject"], letter["already_read"]) == ("Hello", 1)
    assert letter["mail_deletion"] == 30 * 86_400
    assert letter["item_type"] == dialect(version).world_rules.no_item
    assert (fields["postage_cost"], fields["attachment_cost"]) == (10, 50)
    assert layout.encode(fields) == recorded


@pytest.mark.parametrize("version", RECORDED_WINDOW)
def test_coins_in_the_window_have_the_recorded_bytes(harness: WorldHarness, version: int) -> None:
    one = rich(harness, 5, version)
    one.types("start_mail")
    one.types("add_mail_copper 7")
    one.types("add_mail_silver 3")
    sent = [body.hex() for name, body in one.log if name == "OP_EqUpdatePlayerMailCmd"]
    assert sent[-1] == RECORDED_WINDOW[version]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_letter_with_coins_arrives_and_is_read_in_every_version(
    harness: WorldHarness, version: int
) -> None:
    one, other = rich(harness, 5, version, name="Aldana"), rich(harness, 6, version, name="Borvik")
    one.types("start_mail")
    assert one.decoded("WS_GetMailHeader")[-1]["num_messages"] == 0
    assert one.types("add_mail_silver 3") == ["You add 3 silver to the mail window."]
    assert one.player.character.coins == 1000, "they are hers until she sends them"
    assert write(one, "borvik", body="Größe") == SendResult.SENT
    assert one.decoded("WS_MailSendMessageReply")[-1]["player_to"] == "Borvik"
    assert one.player.character.coins == 690
    assert one.player.mail.coins == 0
    assert lines(other)[-1] == UNREAD
    assert other.decoded("WS_OnScreenMsg")[-1]["text"] == "You have unread mail!"
    other.types("start_mail")
    box = other.decoded("WS_GetMailHeader")[-1]
    [letter] = box["message_array"]
    assert (letter["player_from"], letter["subject"], letter["coin_silver"]) == (
        "Aldana", "Hello", 3,
    )  # fmt: skip
    assert (box["postage_cost"], letter["already_read"]) == (10, 0)
    number = letter["mail_id"]
    other.types(f"getmailmessage {number}")
    opened = other.decoded("WS_MailGetMessage")[-1]
    assert opened["mail_body"].encode("latin-1").decode() == "Größe"
    assert opened["kiosk_id"] == box["kiosk_id"] != 0
    assert other.decoded("WS_UpdatePlayerMail")[-1]["action"] == 3
    assert other.decoded("WS_GetMailHeader")[-1]["message_array"][0]["already_read"] == 1
    assert other.types(f"takemailattachments {number}") == ["You take 3 silver out of the letter."]
    assert other.player.character.coins == 1300
    assert other.types(f"deletemailmessage {number}") == []
    other.types("getmailheaders")
    assert other.decoded("WS_GetMailHeader")[-1]["num_messages"] == 0


def test_more_behind_the_texts_of_a_letter_is_not_read(harness: WorldHarness) -> None:
    harness.exist("Borvik")
    one = rich(harness, 5)
    texts = b"\6\0Borvik\2\0Hi\0\0" + bytes(40)
    one.say("OP_MailSendMessageMsg", texts)
    assert one.decoded("WS_MailSendMessageReply")[-1]["reply_type"] == SendResult.SENT
    one.say("OP_MailSendMessageMsg", b"\6\0Bor")
    assert one.player.client.drops, "cut off in the middle of a text"
    assert len(one.decoded("WS_MailSendMessageReply")) == 1


def test_a_character_that_is_offline_is_notified_when_it_enters(harness: WorldHarness) -> None:
    one = rich(harness, 5)
    harness.character(6, name="Borvik")
    assert write(one, "Borvik") == SendResult.SENT
    other = harness.stand(6)
    # As in real-entry-546-QueensColony-fighter-priest-mage: the line alone.
    assert lines(other).count(WAITING) == 1
    assert other.decoded("WS_OnScreenMsg") == []
    other.types("start_mail")
    other.types(
        f"getmailmessage {other.decoded('WS_GetMailHeader')[-1]['message_array'][0]['mail_id']}"
    )
    other.say("OP_RequestCampMsg", b"\1\1")
    assert WAITING not in lines(harness.stand(6))


def test_a_player_in_another_process_is_notified(harness: WorldHarness) -> None:
    beside = WorldHarness(beside=harness)
    one, other = rich(harness, 5), rich(beside, 6, name="Borvik")
    assert write(one, "Borvik") == SendResult.SENT
    assert lines(other)[-1] == UNREAD


def test_what_the_window_is_sent_when_a_letter_is_refused(harness: WorldHarness) -> None:
    one, other = rich(harness, 5, name="Aldana"), rich(harness, 6, name="Borvik", coins=5)
    assert write(one, "") == SendResult.NOBODY_NAMED
    assert write(one, "aldana") == SendResult.NOT_TO_YOURSELF
    assert write(one, "Nobody") == SendResult.NO_SUCH_PLAYER
    assert write(other, "Aldana") == SendResult.TOO_FEW_COINS
    assert lines(other)[-1] == "you do not have enough coins; a letter costs 10 copper"
    assert write(one, "Borvik", "x" * (LONGEST_SUBJECT + 1)) == SendResult.FAILED
    assert write(one, "Borvik", body="x" * (LONGEST_BODY + 1)) == SendResult.FAILED
    other.types("ignore_add Aldana")
    assert write(one, "Borvik") == SendResult.NOT_TO_THIS_PLAYER
    assert one.player.character.coins == 1000


def test_the_ignore_list_of_an_offline_character_counts(harness: WorldHarness) -> None:
    one = rich(harness, 5, name="Aldana")
    harness.character(6, name="Borvik", relations=((2, "ALDANA"),))
    assert write(one, "Borvik") == SendResult.NOT_TO_THIS_PLAYER


def test_a_muted_player_writes_no_letters(harness: WorldHarness) -> None:
    harness.exist("Borvik")
    one = rich(harness, 5, muted_until=harness.moment + 60)
    assert write(one, "Borvik") == SendResult.FAILED
    assert lines(one)[-1] == "you are muted"


def test_a_game_master_pays_no_postage(harness: WorldHarness) -> None:
    harness.exist("Borvik")
    one = harness.stand(5, admin_status=100, coins=0)
    one.types("start_mail")
    box = one.decoded("WS_GetMailHeader")[-1]
    assert (box["postage_cost"], box["attachment_cost"]) == (0, 0)
    assert write(one, "Borvik") == SendResult.SENT


def test_an_account_sends_so_many_letters_an_hour() -> None:
    harness = WorldHarness(WorldRules("TestLabs", mails_per_hour=2))
    harness.exist("Borvik", "Cenwyn", "Dorlas")
    one = rich(harness, 5)
    names = ("Borvik", "Cenwyn", "Dorlas")
    assert [write(one, name) for name in names] == [0, 0, SendResult.FAILED]
    harness.run(1801.0)
    assert write(one, "Dorlas") == SendResult.SENT


def test_a_flood_of_letters_asks_the_store_at_a_limited_rate() -> None:
    harness = WorldHarness(WorldRules("TestLabs", change_burst=3, change_rate=0.1))
    one = rich(harness, 5)
    answers = [write(one, "Nobody") for _ in range(5)]
    assert answers == [SendResult.NO_SUCH_PLAYER] * 3 + [SendResult.FAILED] * 2
    assert harness.world.faults.drops["command too soon"] == 2


def test_coins_come_back_into_the_window_if_the_letter_is_not_stored(harness: WorldHarness) -> None:
    harness.exist("Borvik")
    one = rich(harness, 5)
    one.types("start_mail")
    one.types("add_mail_copper 100")
    harness.store.broken = True
    assert write(one, "Borvik") == SendResult.FAILED
    assert lines(one)[-1] == STORE_FAULT, "not where the database is"
    assert (one.player.mail.coins, one.player.character.coins) == (100, 1000)


def test_two_letters_at_once_do_not_share_coins(
    harness: WorldHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.exist("Borvik")
    one = rich(harness, 5)
    one.types("start_mail")
    one.types("add_mail_copper 100")
    find, waiting = harness.store.find_named, list[Deferred[None]]()

    async def slow(name: str) -> object:
        waiting.append(Deferred())
        await waiting[-1]
        return await find(name)

    monkeypatch.setattr(harness.store, "find_named", slow)
    monkeypatch.setattr(harness, "start", Deferred.fromCoroutine)
    layout = one.dialect.layout("WS_MailSendMessage")
    for _ in range(2):
        one.say("OP_MailSendMessageMsg", layout.encode({"player_to": "Borvik"}))
    for one_waits in list(waiting):
        one_waits.callback(None)
    assert one.player.character.coins == 1000 - 10 - 10 - 100


@pytest.mark.parametrize("is_late", [False, True], ids=["at once", "later"])
def test_a_letter_whose_answer_is_lost_is_sent_once_and_corrected(
    harness: WorldHarness, monkeypatch: pytest.MonkeyPatch, is_late: bool
) -> None:
    """The database is away when the letter is stored, and for the second request."""
    harness.exist("Borvik")
    one, work = rich(harness, 5), list[Coroutine[Any, Any, Any]]()
    one.types("start_mail")
    one.types("add_mail_copper 100")
    stored = harness.stored.mail

    class Lossy:
        async def send(self, *values: Any) -> Any:
            await stored.send(*values)
            raise StoreAway("the connection was lost")

    monkeypatch.setattr(harness.command_context.mail, "_store", Lossy())
    if is_late:
        layout = one.dialect.layout("WS_MailSendMessage")
        monkeypatch.setattr(harness, "start", work.append)
        one.say("OP_MailSendMessageMsg", layout.encode({"player_to": "Borvik"}))
        finish(work.pop(0))
        assert one.player.mail.coins == 100, "the letter has failed, as far as anybody knows"
        monkeypatch.setattr(harness, "start", finish)
        one.types("add_mail_copper 7")
        finish(work.pop(0))
    else:
        write(one, "Borvik")
    assert "Your letter to Borvik was sent after all." in lines(one)
    assert one.player.mail.coins == (7 if is_late else 0)
    assert one.player.character.coins == 1000 - 10 - 100
    assert harness.store.rows[5].coins == 890
    assert len(harness.stored.store.world.mail.open(0, 1000, POSTAGE, Moment(1.0)).letters) == 1


class BrokenStore:
    """The letters of a database that does not answer."""

    async def waiting(self, *_given: object) -> int:
        raise StoreError("the disk is full")


def test_entering_does_not_depend_on_the_mail(
    harness: WorldHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness.parts.mail, "_store", BrokenStore())
    harness.stand(5)
    assert harness.world.faults.drops["mail not counted"] == 1


def test_texts_are_cleaned() -> None:
    assert clean(" a\tb\x07\nc\r ") == "ab\nc"


def test_coins_are_taken_with_one_question_to_the_store(harness: WorldHarness) -> None:
    one, other = rich(harness, 5), rich(harness, 6, name="Borvik")
    assert other.player is not None
    one.types("start_mail")
    one.types("add_mail_silver 3")
    assert write(one, "Borvik") == SendResult.SENT
    mail = harness.parts.mail
    (letter,) = finish(mail.mailbox(other.player)).letters
    asked = Asked(mail._store)
    mail._store = asked  # type: ignore[assignment]
    assert finish(mail.take(other.player, letter.id)) == (300, "")
    assert asked.names == ["take_coins"]


class Asked:
    """A store that notes which of its calls are asked for."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.names: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.names.append(name)
        return getattr(self._store, name)
