from emu.admin.ggmp.door import Door
from emu.admin.ggmp.grants import EVERYTHING, Action, Grant, read_clients
from emu.admin.ggmp.messages import Kind, Message
from emu.admin.ggmp.rules import GgmpRules
from emu.admin.ggmp.values import uint32, utf8
from emu.times import Monotonic
from tests.support.admin.ggmp import GRANT, TOKEN

NOW = Monotonic(100.0)
HOST = "192.0.2.50"
ANYBODY = Grant("anybody", "", frozenset((Action.QUERY,)))


def shown(text: str) -> Message:
    return Message(Kind.ARB_DATA, 0, 0, values=(uint32(1), utf8(text)))


def test_a_token_is_the_first_text_that_is_shown() -> None:
    door = Door(GgmpRules((GRANT,)))
    assert door.grant(shown(TOKEN), HOST, NOW) is GRANT
    assert door.shows_token(shown(TOKEN))
    for wrong in (shown("x" * 16), shown(""), Message(Kind.RAW_DATA, 0, 0, data=b"x")):
        assert door.grant(wrong, HOST, NOW) is None
        assert not door.shows_token(wrong)


def test_where_anybody_may_join_a_token_allows_more_and_a_wrong_one_nothing() -> None:
    door = Door(GgmpRules((GRANT,), ANYBODY))
    assert door.grant(shown(TOKEN), HOST, NOW) is GRANT
    assert door.grant(shown(""), HOST, NOW) is ANYBODY
    assert door.grant(Message(Kind.RAW_DATA, 0, 0, data=b"x"), HOST, NOW) is ANYBODY
    assert door.grant(shown("x" * 16), HOST, NOW) is None


def test_guessing_ends() -> None:
    door = Door(GgmpRules((GRANT,)))
    for _ in range(5):
        door.grant(shown("x" * 16), HOST, NOW)
    assert door.grant(shown(TOKEN), HOST, NOW) is None
    assert door.grant(shown(TOKEN), "192.0.2.51", NOW) is GRANT
    assert door.grant(shown(TOKEN), HOST, Monotonic(NOW + 13)) is GRANT
    assert door.logins == {"refused": 6, "accepted": 2}


def test_a_number_is_good_at_its_host_only() -> None:
    door = Door(GgmpRules(clients=read_clients(f"bot * 5 {HOST}")))
    known = door.known(5, HOST)
    assert known is not None
    assert known.grant == Grant("bot", "", EVERYTHING)
    assert door.known(5, "192.0.2.51") is None
    assert door.known(6, HOST) is None
