from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.commands import audit, characters, notes, server
from emu.admin.commands.server import Controls
from emu.admin.web.dashboard import ACTIONS, action_named, line_of
from emu.admin.web.sessions import RequestRefused
from emu.admin.web.views import VIEWS
from emu.commands.registry import one_line, read_arguments
from tests.support.login.account_commands import AccountCommands
from tests.support.world.worlds import WorldHarness


def line(name: str, **fields: str) -> str:
    return line_of(action_named(name), fields)


def test_fields_stand_where_the_command_wants_them() -> None:
    assert line("kick", player="Aldana") == "kick Aldana"
    assert line("kick", player="Aldana", reason=" too\nloud ") == "kick Aldana too loud"
    assert line("ban", player="Aldana") == "character ban Aldana ever"
    assert line("ban", player="Aldana", reason="spam") == "character ban Aldana ever spam"
    assert line("mute", player="Aldana", minutes="5") == "mute Aldana 5"
    assert line("broadcast", text='"quoted" text') == 'broadcast "quoted" text'
    assert line("lock") == "lock"
    assert line("shutdown", seconds="0") == "shutdown 0"


@pytest.mark.parametrize(
    ("name", "fields", "reported"),
    [
        ("kick", {}, "player is missing"),
        ("kick", {"player": "  "}, "player is missing"),
        ("kick", {"player": "Aldana ever"}, "player: 'Aldana ever' is not"),
        ("kick", {"player": '"Aldana"'}, "player: "),
        ("kick", {"player": "x" * 65}, "player: "),
        ("kick", {"player": "Aldana", "minutes": "5"}, "minutes: there is no such field"),
        ("mute", {"player": "Aldana", "minutes": "-5"}, "minutes: "),
        ("mute", {"player": "Aldana", "minutes": "²"}, "minutes: "),
        ("ban", {"player": "Aldana", "lasting": "soon"}, "lasting: "),
        ("broadcast", {"text": "\n"}, "text is missing"),
        ("broadcast", {"text": "x" * 501}, "text: "),
        ("shutdown", {"seconds": "1e9"}, "seconds: "),
    ],
)
def test_a_field_that_does_not_fit_is_named(
    name: str, fields: dict[str, str], reported: str
) -> None:
    with pytest.raises(RequestRefused) as caught:
        line_of(action_named(name), fields)
    assert caught.value.text.startswith(reported)
    assert caught.value.code == 400


def test_an_action_that_is_not_there() -> None:
    with pytest.raises(RequestRefused) as caught:
        action_named("reload")
    assert caught.value.code == 404


def test_every_action_is_a_command_with_its_arguments() -> None:
    harness, accounts = WorldHarness(), AccountCommands()
    unused: Controls = Controls(lambda: None, {}, None, dict)  # type: ignore[arg-type, misc, return-value]
    known = {
        one.name: one for registry in (harness.registry, accounts.registry) for one in registry
    }
    known |= {one.name: one for one in server.COMMANDS.commands(unused)}
    for declared in (audit.COMMANDS, characters.COMMANDS, notes.COMMANDS):
        known |= {one.name: one for one in declared.declarations()}
    for action in ACTIONS.values():
        arguments = known[action.command].arguments
        assert len(action.fields) <= len(arguments), action
        assert all(one.optional for one in arguments[len(action.fields) :]), action


@given(st.text(max_size=80), st.text(max_size=80))
def test_no_field_becomes_another_argument(player: str, reason: str) -> None:
    accounts = AccountCommands()
    command = accounts.registry.find("character ban")
    assert command is not None
    try:
        made = line_of(ACTIONS["ban"], {"player": player, "reason": reason})
    except RequestRefused:
        return
    values = read_arguments(command.arguments, made.removeprefix("character ban"))
    assert values == {"name": one_line(player), "lasting": "ever", "reason": one_line(reason)}


@given(st.text(min_size=1, max_size=80))
def test_a_password_reaches_the_command_as_it_was_typed_or_is_refused(password: str) -> None:
    command = AccountCommands().registry.find("account add")
    assert command is not None
    try:
        made = line_of(ACTIONS["account-add"], {"account": "alice", "password": password})
    except RequestRefused as refusal:
        assert password not in refusal.text or len(password) < 3  # noqa: PT017  # never shown
        return
    values = read_arguments(command.arguments, made.removeprefix("account add"))
    assert values == {"name": "alice", "password": password}


def test_an_empty_field_before_another_one_stays_in_its_place() -> None:
    accounts = AccountCommands()
    command = accounts.registry.find("account list")
    assert command is not None
    made = line_of(VIEWS["accounts"], {"which": "banned"})
    values = read_arguments(command.arguments, made.removeprefix("account list"))
    assert values == {"beginning": "", "which": "banned"}
