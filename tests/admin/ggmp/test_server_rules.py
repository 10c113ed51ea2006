from emu.admin.ggmp.acting import EVERYTHING, Grant, read_clients
from emu.admin.ggmp.server import GgmpRules
from tests.support.admin.ggmp import GRANT


def test_somebody_has_to_be_let_in_for_a_port_to_make_sense() -> None:
    assert not GgmpRules().lets_anybody_in
    assert GgmpRules((GRANT,)).lets_anybody_in
    assert GgmpRules(anonymous=Grant("anybody", "", frozenset())).lets_anybody_in
    assert GgmpRules(clients=read_clients("bot * 5 192.0.2.1")).lets_anybody_in
    assert GRANT.actions == EVERYTHING
