from __future__ import annotations

import json

from emu.admin.web.dashboard import ACTIONS
from emu.admin.web.description import SECURITY, paths
from emu.admin.web.views import VIEWS


def test_every_action_is_described_with_its_fields() -> None:
    described = paths()
    for name, action in ACTIONS.items():
        asked = described[f"/api/admin/actions/{name}"]["post"]
        bodies = asked["requestBody"]["content"].values()
        assert len(bodies) == 2
        for body in bodies:
            assert list(body["schema"]["properties"]) == [one.name for one in action.fields]
        assert set(asked["security"][0]) == set(SECURITY)
    player = described["/api/admin/actions/ban"]["post"]["requestBody"]["content"]
    assert player["application/json"]["schema"]["required"] == ["player"]


def test_every_view_is_described_with_what_it_asks_for() -> None:
    described = paths()
    for name, view in VIEWS.items():
        asked = described[f"/api/views/{name}"]["get"]["parameters"]
        assert [(one["name"], one["in"], one["required"]) for one in asked] == [
            (field.name, "query", field.default is None) for field in view.fields
        ]


def test_signing_in_needs_no_session() -> None:
    assert paths()["/api/admin/sign-in"]["post"]["security"] == []
    json.dumps(paths())
