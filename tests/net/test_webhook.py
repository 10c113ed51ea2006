"""Which of the server's events a webhook reports; tests/server/test_webhook.py sends them."""

from dataclasses import replace

import pytest

from emu.admin.webhook import WebhookEvent
from emu.audit import Change
from emu.commands.registry import Use
from emu.net.webhook import notices_of
from emu.world.reports import PlayerEntered, PlayerLeft, Said


def use(line: str, result: str = "done", *, ok: bool = True) -> Use:
    return Use("boss", "console", line, result, ok)


def test_players_come_and_go_with_their_zone() -> None:
    entered = PlayerEntered("Borvik", 1, "192.0.2.1", 546, "Antonica")
    assert list(notices_of(entered)) == [
        (
            WebhookEvent.ENTER,
            "Borvik entered Antonica.",
            {"player": "Borvik", "zone": "Antonica"},
        )
    ]
    left = PlayerLeft("Borvik", "Antonica", "quit")
    assert [(event, text) for event, text, _ in notices_of(left)] == [
        (WebhookEvent.LEAVE, "Borvik left.")
    ]


@pytest.mark.parametrize(
    "line",
    [
        "ban Rude 7d",
        "/ban Rude",
        "account ban rude 7d spam",
        "character unban Rude",
        "mute Rude 30 spam",
        "unmute Rude",
        "character rank Rude 100",
        "account password rude ***",
        "account disable rude",
        "account enable rude",
        "address ban 192.0.2.7 7d spam",
    ],
)
def test_every_command_that_changes_a_ban_is_reported(line: str) -> None:
    found = list(notices_of(use(line, "Rude is banned")))
    shown = line.removeprefix("/")
    text = f"boss: Rude is banned ({shown})"
    details = dict.fromkeys(("act", "subject", "before", "after", "reason"), "")
    assert found == [(WebhookEvent.BAN, text, {"by": "boss", "command": shown, **details})]


def test_a_ban_is_reported_with_what_it_changed_and_why() -> None:
    made = replace(
        use("account ban rude 7d spam", "done"), command="account ban", subject="account rude",
        change=Change("enabled", "banned until tomorrow"), reason="spam",
    )  # fmt: skip
    ((_, _, values),) = notices_of(made)
    assert values == {
        "by": "boss", "command": "account ban rude 7d spam", "act": "account ban",
        "subject": "account rude", "before": "enabled", "after": "banned until tomorrow",
        "reason": "spam",
    }  # fmt: skip


def test_a_broadcast_is_reported_with_its_text() -> None:
    ((event, text, values),) = notices_of(use("broadcast The  end"))
    assert (event, text) == (WebhookEvent.BROADCAST, "boss announces: The  end")
    assert values == {"by": "boss", "message": "The  end"}


@pytest.mark.parametrize(
    "event",
    [
        use("ban Rude", "there is no character Rude", ok=False),
        use("kick Rude"),
        use("say ban everybody"),
        Said("say", "Borvik", "I am here"),
        None,
    ],
)
def test_other_events_are_not_reported(event: object) -> None:
    assert list(notices_of(event)) == []
