"""Where a request comes from: the machine itself or the proxy, and a page of ours or a foreign one.

A browser sends the cookie of this page with what a foreign page has it send, unless ``SameSite``
keeps it, and a foreign name may point at the loopback (DNS rebinding). So a request that changes
something must say in ``Origin`` that it comes from this very page, and ``Sec-Fetch-Site``, which
scripts cannot set, must not say otherwise.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from emu.admin.web.desk.refusals import FORBIDDEN, RequestRefused
from emu.limits.addresses import is_loopback, parse_host

SAME_SITE: Final = frozenset(("", "same-origin"))
"""What ``Sec-Fetch-Site`` may say of a request that changes something; programs leave it out."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What a request says of where it comes from; a header that is missing is empty."""

    peer: str
    """Address at the other end of the connection."""
    host: str = ""
    origin: str = ""
    fetch_site: str = ""
    forwarded_for: str = ""
    """``X-Forwarded-For``, several ones joined by commas."""


class Gate:
    """Lets requests in that come from where they should.

    Without a URL that is the machine itself, over plain HTTP; with one, the proxy behind that URL.
    """

    def __init__(self, url: str | None, proxies: Collection[str] = ()) -> None:
        """`url` is ``https://HOST[:PORT]``, `proxies` are addresses; without any, the loopback."""
        self._url = url
        self.is_secure = url is not None
        """Whether browsers come over TLS."""
        self._proxies = frozenset(proxies)

    def cookie(self, origin: Origin) -> str:
        """Return the name of the session's cookie.

        Over TLS browsers take it from this host only. Without, servers on other ports of the same
        host would overwrite it, so that the port is in the name.
        """
        if self.is_secure:
            return "__Host-emu-session"
        return f"emu-session-{_split(origin.host)[1]}"

    def address(self, origin: Origin) -> str:
        """Return the address that a request counts for. Raises `RequestRefused`.

        Behind a proxy it is the last one of ``X-Forwarded-For``: what stands before that, anybody
        may have written.
        """
        if self._url is None:
            if origin.forwarded_for:
                text = "this page is behind a proxy: whoever runs the server has to set web.url"
                raise RequestRefused(FORBIDDEN, "unknown proxy", text)
            return origin.peer
        if not self._is_proxy(origin.peer):
            raise RequestRefused(FORBIDDEN, "past the proxy", f"come by {self._url}")
        last = origin.forwarded_for.rpartition(",")[2].strip()
        try:
            return str(parse_host(last))
        except ValueError:
            return origin.peer

    def admit(self, origin: Origin) -> str:
        """Return the address of a request that changes something.

        Raises `RequestRefused` unless it comes from this page.
        """
        address = self.address(origin)
        expected = self._url if self._url is not None else f"http://{origin.host}"
        if self._url is None and not _names_loopback(origin.host):
            raise RequestRefused(
                FORBIDDEN, "foreign name", "come by http://localhost or http://127.0.0.1"
            )
        if origin.origin.lower() != expected.lower() or origin.fetch_site not in SAME_SITE:
            raise RequestRefused(FORBIDDEN, "foreign origin", "this did not come from the page")
        return address

    def _is_proxy(self, peer: str) -> bool:
        return peer in self._proxies if self._proxies else is_loopback(peer)


def _names_loopback(host: str) -> bool:
    """Say whether a ``Host`` header names the machine itself, by whatever port."""
    name, _ = _split(host)
    return name == "localhost" or is_loopback(name)


def _split(host: str) -> tuple[str, int]:
    """Return name and port of a ``Host`` header; no name when it is none."""
    try:
        parts = urlsplit(f"//{host}")
        port = parts.port or 80
    except ValueError:
        return "", 80
    return parts.hostname or "", port
