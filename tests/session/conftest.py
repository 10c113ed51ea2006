"""Two sessions that have a key, and an endpoint that knows nobody."""

from __future__ import annotations

import pytest

from emu.session import Endpoint
from tests.support.sessions.link import Link, connected_link
from tests.support.sessions.players import make_endpoint


@pytest.fixture
def link() -> Link:
    return connected_link()


@pytest.fixture
def endpoint() -> Endpoint:
    return make_endpoint()
