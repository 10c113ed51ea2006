"""What pages read: every view is a command that changes nothing."""

from __future__ import annotations

from emu.admin.web.views import VIEWS
from tools.site.game_commands import subjects


def test_every_view_is_a_quiet_command_that_changes_nothing() -> None:
    known = {one.name: one for several in subjects().values() for one in several}
    for name, view in VIEWS.items():
        command = known[view.command]
        assert not command.changes, name
        assert command.is_quiet, name
        assert command.rank, name
        assert command.outside, name
        assert len(view.fields) <= len(command.arguments), name
        assert all(one.optional for one in command.arguments[len(view.fields) :]), name
