"""A client that talks to the reference server."""

from __future__ import annotations

import pytest

from tests.support.client_pair import ClientPair


@pytest.fixture
def pair() -> ClientPair:
    return ClientPair()
