"""Which of the server's events a webhook reports; tests/server/test_webhook.py sends them."""

import re
from dataclasses import replace

import pytest

from emu.admin.webhook import WebhookEvent
from emu.audit import SANCTIONS, Change
from emu.commands.registry import Use
from emu.net.webhook import notices_of
from emu.world.reports import PlayerEntered, PlayerLeft, Said
from tools.site.commands import commands_page
from tools.site.game_commands import subjects


def use(command: str, rest: str = "", result: str = "done", *, ok: bool = True) -> Use:
    return Use("boss", "console", f"{command} {rest}".strip(), result, ok, command)


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


@pytest.mark.parametrize("command", sorted(SANCTIONS))
def test_every_command_that_changes_a_ban_is_reported(command: str) -> None:
    found = list(notices_of(use(command, "rude spam", "Rude is banned")))
    line = f"{command} rude spam"
    text = f"boss: Rude is banned ({line})"
    details = dict.fromkeys(("subject", "before", "after", "reason"), "")
    values = {"by": "boss", "command": line, "act": command, **details}
    assert found == [(WebhookEvent.BAN, text, values)]


def test_these_are_commands_of_the_server_and_of_the_program() -> None:
    in_server = {command.name for every in subjects().values() for command in every}
    in_program = set(re.findall(r"^### emu (.*) \{", commands_page(), re.MULTILINE))
    assert in_server | in_program >= SANCTIONS
    words = re.compile(r"\b((un)?ban|(un)?mute|password|rank|enable|disable)$")
    of_accounts = {name for name in in_server | in_program
                   if words.search(name) and not name.startswith("world ")}  # fmt: skip
    assert of_accounts - SANCTIONS == set()


def test_a_ban_is_reported_with_what_it_changed_and_why() -> None:
    made = replace(
        use("account ban", "rude 7d spam"), subject="account rude",
        change=Change("enabled", "banned until tomorrow"), reason="spam",
    )  # fmt: skip
    ((_, _, values),) = notices_of(made)
    assert values == {
        "by": "boss", "command": "account ban rude 7d spam", "act": "account ban",
        "subject": "account rude", "before": "enabled", "after": "banned until tomorrow",
        "reason": "spam",
    }  # fmt: skip


def test_a_broadcast_is_reported_with_its_text() -> None:
    ((event, text, values),) = notices_of(use("broadcast", "The  end"))
    assert (event, text) == (WebhookEvent.BROADCAST, "boss announces: The  end")
    assert values == {"by": "boss", "message": "The  end"}


@pytest.mark.parametrize(
    "event",
    [
        use("ban", "Rude", "there is no character Rude", ok=False),
        use("kick", "Rude"),
        use("say", "ban everybody"),
        Said("say", "Borvik", "I am here"),
        None,
    ],
)
def test_other_events_are_not_reported(event: object) -> None:
    assert list(notices_of(event)) == []
