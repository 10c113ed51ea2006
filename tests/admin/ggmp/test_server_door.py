from emu.admin.ggmp.acting import EVERYTHING, GgmpAction, Grant, read_clients
from emu.admin.ggmp.messages import GgmpMessage, GgmpMessageType, uint32, utf8
from emu.admin.ggmp.server import GgmpAdmission, GgmpRules
from emu.times import Monotonic
from tests.support.admin.ggmp import GRANT, TOKEN

NOW = Monotonic(100.0)
HOST = "192.0.2.50"
ANYBODY = Grant("anybody", "", frozenset((GgmpAction.QUERY,)))


def shown(text: str) -> GgmpMessage:
    return GgmpMessage(GgmpMessageType.ARB_DATA, 0, 0, values=(uint32(1), utf8(text)))


def come(
    door: GgmpAdmission, message: GgmpMessage, host: str = HOST, now: float = NOW
) -> Grant | None:
    return door.grant(message, door.judge(message, host, Monotonic(now)))


def test_a_token_is_the_first_text_that_is_shown() -> None:
    door = GgmpAdmission(GgmpRules((GRANT,)))
    assert come(door, shown(TOKEN)) is GRANT
    for wrong in (
        shown("x" * 16),
        shown(""),
        GgmpMessage(GgmpMessageType.RAW_DATA, 0, 0, data=b"x"),
    ):
        assert come(door, wrong) is None


def test_where_anybody_may_join_a_token_allows_more_and_a_wrong_one_nothing() -> None:
    door = GgmpAdmission(GgmpRules((GRANT,), ANYBODY))
    assert come(door, shown(TOKEN)) is GRANT
    assert come(door, shown("")) is ANYBODY
    assert come(door, GgmpMessage(GgmpMessageType.RAW_DATA, 0, 0, data=b"x")) is ANYBODY
    assert come(door, shown("x" * 16)) is None


def test_guessing_ends() -> None:
    door = GgmpAdmission(GgmpRules((GRANT,)))
    for _ in range(5):
        come(door, shown("x" * 16))
    assert come(door, shown(TOKEN)) is None
    assert come(door, shown(TOKEN), "192.0.2.51") is GRANT
    assert come(door, shown(TOKEN), now=NOW + 13) is GRANT
    assert door.logins == {"refused": 6, "accepted": 2}


def test_a_number_is_good_at_its_host_only() -> None:
    door = GgmpAdmission(GgmpRules(clients=read_clients(f"bot * 5 {HOST}")))
    known = door.known(5, HOST)
    assert known is not None
    assert known.grant == Grant("bot", "", EVERYTHING)
    assert door.known(5, "192.0.2.51") is None
    assert door.known(6, HOST) is None
