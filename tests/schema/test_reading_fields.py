import attrs

from emu.schema import Rule, field, rule_of


@attrs.frozen
class Row:
    id: int = field(about="Its number.", limits=(1, 9))
    rest: int = 0


def test_a_declaration_carries_its_rule() -> None:
    first, second = attrs.fields(Row)
    assert rule_of(first) == Rule(about="Its number.", limits=(1, 9))
    assert first.default is attrs.NOTHING
    assert rule_of(second) == Rule()
