"""Resources that answer at once: JSON, health, and the files of the page.

Every answer carries headers that let a page load nothing from elsewhere and be framed by nobody.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from twisted.web.resource import Resource
from twisted.web.server import Request

SECURITY: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self';"
    " img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self';"
    " frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def prepare(request: Request, content_type: str, status: int = 200) -> None:
    """Set status and headers of an answer."""
    request.setResponseCode(status)
    request.setHeader("Content-Type", content_type)
    for name, value in SECURITY.items():
        request.setHeader(name, value)


def unsupported(request: Request, methods: Iterable[bytes]) -> bytes:
    """Answer who used a method that an address does not take; returns the body."""
    prepare(request, "text/plain; charset=utf-8", 405)
    request.setHeader("Allow", b", ".join(sorted(methods)))
    return b"this method is not taken here\n"


class JsonResource(Resource):
    """Answers with what `ask` returns, as JSON."""

    isLeaf = True

    def __init__(self, ask: Callable[[], Any]) -> None:
        super().__init__()
        self._ask = ask

    def render_GET(self, request: Request) -> bytes:
        """Answer; called by Twisted."""
        prepare(request, "application/json")
        return json.dumps(self._ask(), separators=(",", ":")).encode()


class HealthResource(Resource):
    """Says ``ok`` with 200, or what is missing with 503."""

    isLeaf = True

    def __init__(self, missing: Callable[[], str]) -> None:
        super().__init__()
        self._missing = missing

    def render_GET(self, request: Request) -> bytes:
        """Answer; called by Twisted."""
        missing = self._missing()
        prepare(request, "text/plain; charset=utf-8", 503 if missing else 200)
        return f"{missing or 'ok'}\n".encode()


class PageFile(Resource):
    """One file of the page, read when the server starts."""

    isLeaf = True

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._type = TYPES[path.suffix]
        self._content = path.read_bytes()

    def render_GET(self, request: Request) -> bytes:
        """Answer; called by Twisted."""
        prepare(request, self._type)
        return self._content


class Folder(Resource):
    """A folder; what is not there is said in a line, without Twisted's page."""

    def getChild(self, path: bytes, request: Request) -> Resource:
        """Return what answers for a name that is not there; called by Twisted."""
        del path, request
        return _NotThere()

    def render(self, request: Request) -> bytes:
        """Answer who asks for the folder itself; called by Twisted."""
        return _NotThere().render(request)


class _NotThere(Resource):
    isLeaf = True

    def render(self, request: Request) -> bytes:
        """Answer; called by Twisted."""
        prepare(request, "text/plain; charset=utf-8", 404)
        return b"there is nothing here\n"
