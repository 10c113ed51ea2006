import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.ogp.client import as_record
from emu.admin.ogp.fields import DIALECTS
from emu.admin.ogp.messages import OgpContent
from emu.admin.ogp.responder import Presentation, content_of
from tests.support.admin.ogp_contents import contents
from tests.support.admin.statuses import server_status


def test_flags_are_words_and_names_are_texts() -> None:
    shown = as_record(content_of(server_status(), Presentation(7)))
    assert shown["game_id"] == 7
    assert shown["server"]["host_name"] == "Qeynos"
    assert shown["server"]["server_flags"]["system"] == 2
    assert shown["server"]["map"] == {"name": "Qeynos Harbor", "file": "qey_harbor"}
    assert shown["players"][1]["flags"] == ["alive", "vip"]
    assert shown["rules"] == {"motd": "hi"}


def test_what_was_not_reported_is_left_out() -> None:
    assert as_record(OgpContent(5, rules=[])) == {"game_id": 5, "rules": {}}


@pytest.mark.slow
@given(st.data())
def test_whatever_a_server_shows_can_be_written_as_json(data: st.DataObject) -> None:
    content, _ = data.draw(contents(data.draw(st.sampled_from(DIALECTS))))
    assert json.loads(json.dumps(as_record(content)))["game_id"] == content.game_id
