import pytest

from emu.cli.tables import failures_in
from emu.errors import CommandError


@pytest.mark.parametrize(
    ("style", "printed"), [("json", '{"error": "no \\"way\\""}\n'), ("text", "")]
)
def test_a_failure_goes_on_and_is_an_object_for_programs(style, printed, capsys) -> None:
    with pytest.raises(CommandError, match="no"), failures_in(style):
        raise CommandError('no "way"')
    assert capsys.readouterr().out == printed
    with failures_in(style):
        pass
    assert capsys.readouterr().out == ""
