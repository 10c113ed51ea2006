"""Host names in tests: names under .invalid have no address, and no name server is asked."""

from __future__ import annotations

import socket
from typing import Any

import pytest


def know_no_invalid_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse names under .invalid at once, as a name server would; others are asked for as ever."""
    asked = socket.getaddrinfo

    def answer(host: str, *details: Any, **more: Any) -> Any:
        if host.endswith(".invalid"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return asked(host, *details, **more)

    monkeypatch.setattr(socket, "getaddrinfo", answer)
