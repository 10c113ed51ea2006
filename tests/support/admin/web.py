"""A browser without a page: asks a web endpoint over TCP, keeps its cookie, shows its token."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode

from twisted.internet.threads import deferToThread

from tests.support.patience import patience

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Answer:
    code: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def content(self) -> dict[str, Any]:
        """The JSON of the answer."""
        read: dict[str, Any] = json.loads(self.body)
        return read


class Browser:
    """Somebody at the page of one server; `proxied` are headers that a proxy adds."""

    def __init__(self, port: int, host: str = "", proxied: Mapping[str, str] | None = None) -> None:
        self.port = port
        self.host = host or f"127.0.0.1:{port}"
        self.origin = f"https://{host}" if host else f"http://{self.host}"
        self.proxied = dict(proxied or {})
        self.cookies: dict[str, str] = {}
        self.csrf = ""

    async def get(self, path: str, **headers: str) -> Answer:
        return await self.ask("GET", path, headers=headers)

    async def post(self, path: str, fields: Mapping[str, Any] | None = None, **more: Any) -> Answer:
        """Send fields as the page does; `headers` come on top, those that are None are left out."""
        kind = more.pop("kind", JSON)
        text = json.dumps(fields or {}) if kind == JSON else urlencode(fields or {})
        headers = {"Content-Type": kind, "Origin": self.origin, "Sec-Fetch-Site": "same-origin"}
        headers |= {"X-CSRF-Token": self.csrf} if self.csrf else {}
        body = more.pop("body", text.encode())
        return await self.ask("POST", path, body, headers | more.pop("headers", {}))

    async def ask(
        self, method: str, path: str, body: bytes | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> Answer:  # fmt: skip
        """Ask in a thread; the reactor serves meanwhile."""
        whole: dict[str, str | None] = {"Host": self.host, **self.proxied}
        if self.cookies:
            whole["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        whole |= headers or {}
        sent = {name: value for name, value in whole.items() if value is not None}
        answer = await deferToThread(_ask, self.port, method, path, body, sent)
        self._keep(answer)
        return answer

    async def stream(self, path: str) -> bytes:
        """Return the beginning of a stream of events, with the first state."""
        headers = {"Host": self.host, **self.proxied}
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return await deferToThread(_stream, self.port, path, headers)

    def _keep(self, answer: Answer) -> None:
        for name, morsel in SimpleCookie(answer.headers.get("Set-Cookie", "")).items():
            if morsel["max-age"] == "0":
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = morsel.value

    async def sign_in(self, name: str, password: str, **more: Any) -> Answer:
        answer = await self.post("/api/admin/sign-in", {"name": name, "password": password}, **more)
        self.csrf = answer.content.get("csrf", self.csrf)
        return answer

    async def act(
        self, action: str, fields: Mapping[str, Any] | None = None, **more: Any
    ) -> Answer:
        return await self.post(f"/api/admin/actions/{action}", fields, **more)

    async def signed_in(self) -> bool:
        received = (await self.get("/api/admin/session")).content
        return bool(received["signed_in"])


def _ask(
    port: int, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=patience(20))
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        if body is not None and "Transfer-Encoding" not in headers:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        return Answer(answer.status, dict(answer.getheaders()), answer.read())
    finally:
        connection.close()


def _stream(port: int, path: str, headers: Mapping[str, str]) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=patience(20))
    try:
        connection.putrequest("GET", path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        received = b""
        while b"event: state" not in received:
            received += answer.read1(65536)
        return received
    finally:
        connection.close()
