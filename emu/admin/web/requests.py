"""Requests of the dashboard: their origin, and the fields of their bodies.

A browser sends this page's cookie also with requests that a foreign page causes, unless
``SameSite`` prevents it, and a foreign name can point at the loopback address (DNS rebinding). So a
request that changes something needs this page as its ``Origin``. ``Sec-Fetch-Site``, which scripts
cannot set, must not contradict.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from emu.admin.web.sessions import BAD_REQUEST, FORBIDDEN, UNSUPPORTED, RequestRefused
from emu.limits.addresses import is_loopback, parse_host

SAME_SITE: Final = frozenset(("", "same-origin"))
"""Allowed values of ``Sec-Fetch-Site``; programs send none."""


_HOST: Final = re.compile(rb"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,255})(?::[0-9]{0,5})?")
"""A ``Host`` header: an IPv6 address in brackets, another address, or a name; perhaps a port."""


_ABSOLUTE: Final = re.compile(rb"https?://([^/?#]*)([^#]*)", re.IGNORECASE)


def absolute_form(target: bytes) -> tuple[bytes, bytes] | None:
    """Return host and path of a request's target that is a whole URL, None if it is a path.

    Programs behind a proxy of their network ask so; every server must understand it (RFC 9112
    section 3.2.2).
    """
    match = _ABSOLUTE.fullmatch(target)
    if match is None:
        return None
    path = match[2]
    return match[1], path if path.startswith(b"/") else b"/" + path


def are_hosts(headers: Collection[bytes], version: bytes) -> bool:
    """Return whether a request of an HTTP version may have these ``Host`` headers.

    It has one, and that is well-formed (RFC 9112 section 3.2). Two may mean two names to a proxy
    and to this server. HTTP/1.0 needs none.
    """
    if not headers:
        return version == b"HTTP/1.0"
    return len(headers) == 1 and all(map(_HOST.fullmatch, headers))


class HostNames:
    """The names in ``Host`` headers that mean this server.

    A foreign page can let its own name point at this server (DNS rebinding) and then read the
    answers to that name. It cannot do that with an IP address or with a name of this server.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        """`names` are valid in addition to localhost and all IP addresses."""
        self._names = {"localhost", *(name.lower().rstrip(".") for name in names)}

    def allow(self, header: bytes) -> bool:
        """Return whether a ``Host`` header is allowed; its port does not matter."""
        match = _HOST.fullmatch(header)
        # A malformed header names nobody.
        if match is None:
            return False
        # A name may end with a dot; it is the same name.
        name = match[1].decode().strip("[]").lower().rstrip(".")
        if name in self._names:
            return True
        try:
            # DNS rebinding needs a name: only a page of an IP address has that address as host.
            parse_host(name)
        except ValueError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class Origin:
    """The headers that show where a request comes from; a missing header is empty."""

    peer: str
    """The IP address of the peer."""
    host: str = ""
    origin: str = ""
    fetch_site: str = ""
    forwarded_for: str = ""
    """``X-Forwarded-For``; several headers are joined by commas."""


class RequestGate:
    """Checks where requests come from.

    They come from a browser on this machine over plain HTTP, or from the proxy of a URL.
    """

    def __init__(self, url: str | None, proxies: Collection[str] = ()) -> None:
        """`url` is ``https://HOST[:PORT]``; `proxies` are addresses, by default the loopback."""
        self._url = url
        self._proxies = frozenset(proxies)

    def is_secure(self, origin: Origin) -> bool:
        """Return whether the browser of a request uses TLS."""
        is_plain = self._is_direct(origin) and origin.origin.lower() == _plain(origin)
        return self._url is not None and not is_plain

    def cookies(self, origin: Origin) -> list[str]:
        """Return the names that the session's cookie of a request may have, the safest first.

        A request that only reads has no ``Origin``, so a browser on this machine and a proxy
        without ``X-Forwarded-For`` look alike.
        """
        names = [_SECURE_COOKIE] if self._url is not None else []
        return [*names, _plain_cookie(origin)] if not names or self._is_direct(origin) else names

    def cookie(self, origin: Origin) -> str:
        """Return the name of the session's cookie for the answer to a request with ``Origin``.

        With TLS, a prefix lets browsers accept it only from this host. Without TLS, servers on
        other ports of the same host would overwrite it; so the port is in the name.
        """
        return _SECURE_COOKIE if self.is_secure(origin) else _plain_cookie(origin)

    def address(self, origin: Origin) -> str:
        """Return the client's address of a request. Raises `RequestRefused`.

        Behind a proxy it is the last entry of ``X-Forwarded-For``: the client can forge all earlier
        ones.
        """
        if self._url is None:
            if origin.forwarded_for:
                # Without a configured proxy the header can be forged, and ignoring it would count
                # all users as one address.
                text = "this page is behind a proxy: the operator must set web.url"
                raise RequestRefused(FORBIDDEN, "unknown proxy", text)
            return origin.peer
        if self._is_direct(origin):
            return origin.peer
        # Past the proxy, anybody could forge the header with the client's address.
        if not self._is_proxy(origin.peer):
            raise RequestRefused(FORBIDDEN, "past the proxy", f"use {self._url}")
        last = origin.forwarded_for.rpartition(",")[2].strip()
        try:
            return str(parse_host(last))
        except ValueError:
            # The header has no usable address, so the proxy itself counts as the client.
            return origin.peer

    def admit(self, origin: Origin) -> str:
        """Return the client's address of a request that changes something.

        Raises `RequestRefused` unless the request comes from this page.
        """
        address = self.address(origin)
        expected = self._url if self._url and self.is_secure(origin) else _plain(origin)
        # DNS rebinding: the foreign name points here, but it is still the foreign name in this
        # header.
        if self._url is None and not _names_loopback(origin.host):
            raise RequestRefused(
                FORBIDDEN, "foreign name", "use http://localhost or http://127.0.0.1"
            )
        if origin.origin.lower() != expected.lower() or origin.fetch_site not in SAME_SITE:
            raise RequestRefused(FORBIDDEN, "foreign origin", "the request is not from this page")
        return address

    def _is_direct(self, origin: Origin) -> bool:
        """Return whether a request is from this machine, to a name of it, and not forwarded."""
        return (
            not origin.forwarded_for and is_loopback(origin.peer) and _names_loopback(origin.host)
        )

    def _is_proxy(self, peer: str) -> bool:
        return peer in self._proxies if self._proxies else is_loopback(peer)


class Monitors:
    """The addresses whose programs read the metrics without signing in.

    They are this machine and the networks of a setting. A request that a proxy has forwarded is
    from somebody else.
    """

    def __init__(self, networks: Iterable[str] = ()) -> None:
        """`networks` are addresses or networks, like ``192.0.2.0/24``."""
        self._networks = tuple(ip_network(one) for one in networks)

    def admit(self, origin: Origin) -> bool:
        """Return whether a request is from a monitor."""
        # A proxy on this machine would otherwise make everybody a monitor.
        if origin.forwarded_for:
            return False
        if is_loopback(origin.peer):
            return True
        try:
            address = parse_host(origin.peer)
        except ValueError:
            return False
        return any(address in network for network in self._networks)


_SECURE_COOKIE: Final = "__Host-emu-session"


def _plain_cookie(origin: Origin) -> str:
    return f"emu-session-{_split(origin.host)[1]}"


def _plain(origin: Origin) -> str:
    """Return the ``Origin`` of this page over plain HTTP."""
    return f"http://{origin.host}".lower()


def _names_loopback(host: str) -> bool:
    """Return whether a ``Host`` header names this machine, with any port."""
    name, _ = _split(host)
    return name == "localhost" or is_loopback(name)


def _split(host: str) -> tuple[str, int]:
    """Return name and port of a ``Host`` header; an empty name if it is malformed."""
    try:
        pieces = urlsplit(f"//{host}")
        # A missing port is that of plain HTTP.
        port = pieces.port or 80
    except ValueError:
        return "", 80
    return pieces.hostname or "", port


FORM: Final = "application/x-www-form-urlencoded"
JSON: Final = "application/json"
MOST_FIELDS: Final = 16
LONGEST_NAME: Final = 32
LONGEST_VALUE: Final = 1000

Fields = dict[str, str]


def read_fields(content_type: str, body: bytes) -> Fields:
    """Return the fields of a body. Raises `RequestRefused`.

    A JSON body is one object; numbers stay as they are written.
    """
    # The type may have parameters, such as the encoding.
    kind = content_type.partition(";")[0].strip().lower()
    if kind not in (FORM, JSON):
        raise RequestRefused(UNSUPPORTED, "unknown body", f"the body must be {JSON} or {FORM}")
    try:
        pairs = _of_form(body) if kind == FORM else _of_json(body)
    except (ValueError, RecursionError):
        raise RequestRefused(BAD_REQUEST, "bad body", "the body cannot be read") from None
    fields = dict(pairs)
    # A name that occurs twice is refused, because two readers could take different ones of the
    # values.
    if len(fields) != len(pairs) or len(fields) > MOST_FIELDS or not all(map(_fits, pairs)):
        raise RequestRefused(BAD_REQUEST, "bad body", "the fields are too many or too long")
    return fields


def read_query(query: bytes) -> Fields:
    """Return the fields behind the question mark of an address. Raises `RequestRefused`."""
    return read_fields(FORM, query)


def _of_form(body: bytes) -> list[tuple[str, str]]:
    return parse_qsl(
        # Forms are ASCII: other letters are percent-encoded.
        body.decode("ascii"), keep_blank_values=True, strict_parsing=bool(body), errors="strict",
        max_num_fields=MOST_FIELDS,
    )  # fmt: skip


def _of_json(body: bytes) -> list[tuple[str, str]]:
    read = json.loads(body.decode("utf-8"), object_pairs_hook=_Pairs)
    if not isinstance(read, _Pairs):
        raise ValueError("not an object")  # noqa: TRY004  # read_fields takes it for what it is
    return [(name, _text(value)) for name, value in read]


class _Pairs(list[tuple[str, Any]]):
    """An object of JSON, which may have a name twice."""


def _text(value: Any) -> str:
    if isinstance(value, str):
        value.encode()  # half a surrogate pair, which JSON can express and UTF-8 cannot
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise ValueError("neither a text nor a whole number")


def _fits(pair: tuple[str, str]) -> bool:
    name, value = pair
    return 0 < len(name) <= LONGEST_NAME and len(value) <= LONGEST_VALUE
