"""The protocols that can be asked."""

from emu.cli.query import query


def test_each_protocol_is_a_verb() -> None:
    assert "ssq" in query.commands
