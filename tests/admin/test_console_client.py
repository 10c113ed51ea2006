from __future__ import annotations

import pytest

from emu.admin.console import ConsoleClient, ConsoleSession
from emu.commands import Caller, Reply
from emu.errors import MalformedMessage


def test_a_reply_comes_out_as_it_went_in() -> None:
    client, session = ConsoleClient(), ConsoleSession(Caller("root", 1000, "console"))
    session.receive_data(client.request('say "ü"\n'), 0.0)
    assert session.next_event().line == 'say "ü"'  # type: ignore[attr-defined, union-attr]
    session.answered(Reply(("one", "two"), [1, None], ok=False), 0.0)
    [data] = session.data_to_send()
    assert client.receive_data(data[:5]) == []
    assert client.receive_data(data[5:]) == [Reply(("one", "two"), [1, None], ok=False)]


@pytest.mark.parametrize("line", [b"SSH-2.0-x", b"[]", b'{"ok": 1}', b'{"ok":1,"lines":2}'])
def test_something_else_is_found_out(line: bytes) -> None:
    with pytest.raises(MalformedMessage):
        ConsoleClient().receive_data(line + b"\n")
