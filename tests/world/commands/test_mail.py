"""Commands of mail: coins of the window, the lines of text, reports, and the operators' list."""

from __future__ import annotations

import pytest

from emu.errors import UnknownStruct
from emu.structs import StructCatalog
from emu.world.actors.client import PlayerClient
from tests.support.world.worlds import Client, WorldHarness


@pytest.fixture
def pair(harness: WorldHarness) -> tuple[Client, Client]:
    one = harness.stand(5, name="Aldana", coins=1000)
    return one, harness.stand(6, name="Borvik", coins=0)


def test_mail_by_lines_of_text(pair: tuple[Client, Client]) -> None:
    one, other = pair
    one.types("start_mail")
    one.types("add_mail_copper 5")
    sent = one.types("mail send borvik Greetings / How are you?")
    assert "Your letter to Borvik is sent." in sent
    listed = other.types("mail")
    assert listed[0] == "You have 1 letter."
    assert listed[1].startswith("1: Greetings (from Aldana, ")
    assert listed[1].endswith(", with 5 copper, new)")
    assert other.types("mail read 1")[-1] == "How are you?"
    assert other.types("mail delete 1") == ["take the coins of the letter first"]
    assert other.types("mail take 1") == ["You take 5 copper out of the letter."]
    assert other.types("mail delete 1") == ["letter 1 is deleted"]
    assert other.types("mail") == ["You have 0 letters."]
    for line in ("read 1", "take 1", "delete 1"):
        assert other.types(f"mail {line}") == ["you have no letter 1"]


def test_a_letter_is_sent_back(pair: tuple[Client, Client]) -> None:
    one, other = pair
    one.types("mail send Borvik Hello / Hi")
    assert other.types("mail return 1") == ["letter 1 is on its way back"]
    assert "You have unread mail in your mailbox." in [
        row["text"] for row in one.decoded("WS_DisplayText")
    ]
    assert one.types("mail")[1].startswith("1: Returned: Hello (from Aldana, ")
    assert one.types("mail return 1")[0].startswith("you have no letter 1 that can go back")


def test_coins_of_the_window(pair: tuple[Client, Client]) -> None:
    one, other = pair
    assert one.types("add_mail_copper 1") == ["open your mailbox first"]
    one.types("start_mail")
    assert one.types("add_mail_gold 1") == ["you do not have that many coins"]
    assert one.types("add_mail_silver 9") == ["You add 9 silver to the mail window."]
    assert one.types("add_mail_copper 91") == ["you do not have that many coins"], "postage"
    assert one.types("add_mail_copper 90") == ["You add 90 copper to the mail window."]
    assert one.types("add_mail_copper -5") == ["the number of coins must be 1 or more"]
    assert one.types("remove_mail_gold 1")[0].startswith("there are not so many coins")
    assert one.types("remove_mail_silver 2") == ["You remove 2 silver from the mail window."]
    assert one.player.mail.coins == 790
    one.types("cancel_send_mail")
    assert one.player.mail.coins == 0
    one.types("cancel_mail")
    assert one.player.mail is None
    assert one.types("set_mail_item 0 1") == ["open your mailbox first"]
    assert other.types("add_mail_plat 1000000000") == ["open your mailbox first"]


def test_a_deletion_that_is_refused_brings_the_letter_back(pair: tuple[Client, Client]) -> None:
    one, other = pair
    one.types("start_mail")
    one.types("add_mail_copper 5")
    one.types("mail send Borvik Hello / Hi")
    assert other.types("deletemailmessage 1") == ["take the coins of the letter first"]
    assert other.decoded("WS_GetMailHeader")[-1]["num_messages"] == 1
    other.types("getmailmessage 1")
    other.types("takemailattachments 1")
    assert other.types("clear_mailbox") == ["1 letter deleted"]
    assert other.decoded("WS_GetMailHeader")[-1]["num_messages"] == 0


def test_spam_is_reported_and_deleted(harness: WorldHarness, pair: tuple[Client, Client]) -> None:
    one, other = pair
    one.types("mail send Borvik Gold / Cheap gold")
    assert other.types("reportspam 1")[0].startswith("Thank you.")
    assert other.types("mail") == ["You have 0 letters."]
    [_, line] = harness.console("petition list").lines
    assert line.endswith("letter of Aldana: Gold: Cheap gold")
    assert other.types("reportspam 1") == ["you have no letter 1"]


def test_operators_list_a_mailbox_without_texts(
    harness: WorldHarness, pair: tuple[Client, Client]
) -> None:
    one, _ = pair
    one.types("mail send Borvik Hello / A secret")
    reply = harness.console("mailbox borvik")
    assert reply.lines[0] == "Borvik has 1 letter."
    assert "secret" not in reply.text
    assert reply.data[0]["sender"] == "Aldana"
    assert not harness.console("mailbox Nobody").ok
    assert one.types("mailbox Borvik") == []


def test_a_version_without_a_mail_window_is_shown_lines(
    pair: tuple[Client, Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _ = pair
    send = PlayerClient.send

    def without(client: PlayerClient, struct: str, values: object = None) -> bool:
        return struct != "WS_GetMailHeader" and send(client, struct, values)  # type: ignore[arg-type]

    monkeypatch.setattr(PlayerClient, "send", without)
    assert one.types("start_mail") == ["You have 0 letters."]
    with pytest.raises(UnknownStruct):
        StructCatalog([]).layout("WS_GetMailHeader", 546)
