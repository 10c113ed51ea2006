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


def json_body(request: Request, value: Any, status: int = 200) -> bytes:
    """Set the headers of an answer in JSON and return its body."""
    prepare(request, "application/json", status)
    return json.dumps(value, separators=(",", ":")).encode()


class Answer(Resource):
    """An address at which a function answers at once: it sets the headers, and returns the body."""

    isLeaf = True

    def __init__(self, answer: Callable[[Request], bytes]) -> None:
        super().__init__()
        self._answer = answer

    def render_GET(self, request: Request) -> bytes:
        """Answer; called by Twisted."""
        return self._answer(request)


def json_answer(ask: Callable[[], Any]) -> Answer:
    """Answer with what `ask` returns, as JSON."""
    return Answer(lambda request: json_body(request, ask()))


def health(missing: Callable[[], str]) -> Answer:
    """Say ``ok`` with 200, or what is missing with 503."""

    def answer(request: Request) -> bytes:
        lacking = missing()
        prepare(request, "text/plain; charset=utf-8", 503 if lacking else 200)
        return f"{lacking or 'ok'}\n".encode()

    return Answer(answer)


def page_file(path: Path) -> Answer:
    """Answer with one file of the page, read when the server starts."""
    content = path.read_bytes()

    def answer(request: Request) -> bytes:
        prepare(request, TYPES[path.suffix])
        return content

    return Answer(answer)


class Folder(Resource):
    """A folder; what is not there is said in a line, without Twisted's page."""

    def getChild(self, path: bytes, request: Request) -> Resource:
        """Return what answers for a name that is not there; called by Twisted."""
        del path, request
        return Folder()

    def render(self, request: Request) -> bytes:
        """Answer who asks for the folder itself, or what is not there; called by Twisted."""
        prepare(request, "text/plain; charset=utf-8", 404)
        return b"there is nothing here\n"
