"""A client that talks to the reference server."""

from __future__ import annotations

import pytest

from tests.support.sessions.client_pair import ClientPair


@pytest.fixture
def pair() -> ClientPair:
    return ClientPair()
