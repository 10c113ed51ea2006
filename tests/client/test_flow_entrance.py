"""The way to a key: characters found, made, or missing."""

import pytest

from emu.client import Credentials
from emu.client.flow import Entrance, granted
from tests.support.sessions.client_pair import ClientPair
from tests.support.sessions.reference_messages import ACCOUNT, ReferenceCharacter
from tests.support.sessions.reference_server import Script

WHO = Credentials(ACCOUNT, "secret")


@pytest.mark.parametrize("version", [546, 1208])
@pytest.mark.parametrize(
    ("entrance", "made"),
    [
        (Entrance(WHO), None),
        (Entrance(WHO, "olda"), None),
        (Entrance(WHO, "olda", create=True), None),
        (Entrance(WHO, "Testa", create=True), "Testa"),
    ],
)
def test_a_key_is_granted(version: int, entrance: Entrance, made: str | None) -> None:
    script = Script(version=version, characters=[ReferenceCharacter(5, 1, "Olda", 7)])
    entrance = Entrance(WHO, entrance.character, entrance.create, version=version)
    pair = ClientPair(script)
    flow = pair.run(granted(pair.client, entrance), timeout=60.0)
    assert flow.failure is None
    assert flow.result.access_code == 0x1234ABCD
    names = [one.name for one in pair.client.characters or ()]
    assert (made in names) is (made is not None)


@pytest.mark.parametrize(
    ("entrance", "reason"),
    [
        (Entrance(WHO), "has no character: name one"),
        (Entrance(WHO, "Nobody"), "no character Nobody"),
    ],
)
def test_without_a_character_there_is_no_key(
    pair: ClientPair, entrance: Entrance, reason: str
) -> None:
    flow = pair.run(granted(pair.client, entrance), timeout=60.0)
    assert reason in str(flow.failure)
