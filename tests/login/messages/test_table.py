"""The table of the login's messages."""

from __future__ import annotations

import pytest

from emu.login.client import LOGGED_IN_STATES
from emu.login.messages.table import LoginMessageTable, ignored


def test_a_message_has_one_handler() -> None:
    table = LoginMessageTable()
    table.add_handler("OP_KeymapLoadMsg", ignored, LOGGED_IN_STATES)
    assert table["OP_KeymapLoadMsg"].states == LOGGED_IN_STATES
    with pytest.raises(ValueError, match="OP_KeymapLoadMsg has a handler already"):
        table.add_handler("OP_KeymapLoadMsg", ignored, LOGGED_IN_STATES)
