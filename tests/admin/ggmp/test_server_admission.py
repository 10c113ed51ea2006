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
    listener: GgmpAdmission, message: GgmpMessage, host: str = HOST, now: float = NOW
) -> Grant | None:
    return listener.grant(message, listener.judge(message, host, Monotonic(now)))


def test_a_token_is_the_first_text_that_is_shown() -> None:
    listener = GgmpAdmission(GgmpRules((GRANT,)))
    assert come(listener, shown(TOKEN)) is GRANT
    for wrong in (
        shown("x" * 16),
        shown(""),
        GgmpMessage(GgmpMessageType.RAW_DATA, 0, 0, data=b"x"),
    ):
        assert come(listener, wrong) is None


def test_where_anybody_may_join_a_token_allows_more_and_a_wrong_one_nothing() -> None:
    listener = GgmpAdmission(GgmpRules((GRANT,), ANYBODY))
    assert come(listener, shown(TOKEN)) is GRANT
    assert come(listener, shown("")) is ANYBODY
    assert come(listener, GgmpMessage(GgmpMessageType.RAW_DATA, 0, 0, data=b"x")) is ANYBODY
    assert come(listener, shown("x" * 16)) is None


def test_guessing_ends() -> None:
    listener = GgmpAdmission(GgmpRules((GRANT,)))
    for _ in range(5):
        come(listener, shown("x" * 16))
    assert come(listener, shown(TOKEN)) is None
    assert come(listener, shown(TOKEN), "192.0.2.51") is GRANT
    assert come(listener, shown(TOKEN), now=NOW + 13) is GRANT
    assert listener.logins == {"refused": 6, "accepted": 2}


def test_a_number_is_good_at_its_host_only() -> None:
    listener = GgmpAdmission(GgmpRules(clients=read_clients(f"bot * 5 {HOST}")))
    known = listener.known(5, HOST)
    assert known is not None
    assert known.grant == Grant("bot", "", EVERYTHING)
    assert listener.known(5, "192.0.2.51") is None
    assert listener.known(6, HOST) is None
