"""`/status`, `/status.json` and `/status.svg`: the public status over HTTP, for caches and pages.

A request costs the sending of prepared bytes, or a 304 without any. Scripts of every page may read
the JSON; it has nothing that depends on the reader.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from twisted.web.http import CACHED
from twisted.web.resource import Resource
from twisted.web.server import Request

from emu.admin.web.public import FRESH, PublicForm, PublicSource
from emu.net.web.resources import TYPES, prepare

CONTENT_TYPES: Final = {
    PublicForm.PAGE: TYPES[".html"],
    PublicForm.JSON: "application/json",
    PublicForm.BADGE: TYPES[".svg"],
}
CACHED_FOR: Final = f"public, max-age={round(FRESH)}"


class PublicResource(Resource):
    """One form of the public status; 404 while `is_enabled` returns False."""

    isLeaf = True

    def __init__(
        self, source: PublicSource, form: PublicForm, is_enabled: Callable[[], bool]
    ) -> None:
        super().__init__()
        self._source = source
        self._form = form
        self._is_enabled = is_enabled

    def render_GET(self, request: Request) -> bytes:
        """Answer; called by Twisted."""
        if request.postpath or not self._is_enabled():
            prepare(request, "text/plain; charset=utf-8", 404)
            return b"there is nothing here\n"
        answer = self._source.answer(self._form)
        prepare(request, CONTENT_TYPES[self._form])
        request.setHeader("Cache-Control", CACHED_FOR)
        if self._form is PublicForm.JSON:
            # The status is public, so pages of other sites may show it.
            request.setHeader("Access-Control-Allow-Origin", "*")
        # The headers are set before, because a 304 carries them too.
        if request.setETag(answer.etag) is CACHED:
            return b""
        return answer.body
