"""`/api/views/NAME`: what the pages of operators read, each view the data of one command."""

from __future__ import annotations

from typing import Any

from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request

from emu.admin.web.requests import read_query
from emu.admin.web.sessions import IMPOSSIBLE, NOT_FOUND, NOT_SIGNED_IN, RequestRefused
from emu.admin.web.views import VIEWS
from emu.net.web.dashboard import DashboardEndpoint, JsonAnswer, written


class ViewResource(Resource):
    """All views. Only requests of signed-in users with a rank reach it."""

    isLeaf = True

    def __init__(self, endpoint: DashboardEndpoint) -> None:
        super().__init__()
        self._endpoint = endpoint

    def render_GET(self, request: Request) -> Any:
        """Answer; called by Twisted."""
        if len(request.postpath or ()) != 1:
            return written(request, NOT_FOUND, {"ok": False, "text": "there is nothing here"})
        self._endpoint.serve(request, self._view)
        return NOT_DONE_YET

    async def _view(self, request: Request) -> JsonAnswer:
        user = await self._endpoint.reader(request)
        if user is None:  # the session ended since the request was admitted
            raise RequestRefused(NOT_SIGNED_IN, "not signed in", "sign in first")
        name = b"".join(request.postpath or ()).decode("latin-1")
        fields = read_query(request.uri.partition(b"?")[2])
        reply = await self._endpoint.dashboard.view(user, name, fields)
        if not reply.ok:
            return IMPOSSIBLE, {"ok": False, "text": reply.text}
        data, most = reply.data, VIEWS[name].most
        if most and len(data) > most:
            return 200, {"ok": True, "text": "", "data": data[:most], "total": len(data)}
        return 200, {"ok": True, "text": "", "data": data}
