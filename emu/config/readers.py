"""Readers of settings that have a form of their own: addresses, file names, fingerprints.

Each turns a TOML value, or the text of a ``--set``, into the setting's final value, or raises
`ValueError` with a text that says what would be right. `emu.schema.values` has the general ones.
"""

from __future__ import annotations

import ipaddress
import os
import re
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from emu.database.where import ServerUrl, Where, shown
from emu.limits.addresses import host_port, is_host, parse_host
from emu.schema import Form, OrNone, WholeNumber

LONGEST_PATH: Final = 4096
LONGEST_FILE_NAME: Final = 255
"""Bytes of the longest path that Linux accepts, and of each name in it."""

_HTTPS = re.compile(r"https://([^/:\[\]]+|\[[^/\]]+\])(?::([0-9]{1,5}))?/?")
_CHANGE = (255, 0xFF, 0xFFFF)
"""Largest index of a byte, value and color of a color change."""


@frozen
class Address:
    """A host (dotted IPv4, IPv6 without brackets, or a name) and a port.

    Port 0 lets the system choose when listening.
    """

    host: str
    port: int

    def __str__(self) -> str:
        return host_port(self.host, self.port)


def address(value: Any) -> Address:
    """Read ``host:port``; IPv6 addresses stand in brackets."""
    if isinstance(value, Address):
        return value
    host, _, port = value.rpartition(":") if isinstance(value, str) else ("", "", "")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        # Without brackets the last group of an IPv6 address could be the port.
        host = ""
    if not is_host(host) or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise ValueError('must be "host:port" with a port from 0 to 65535, like "127.0.0.1:9100"')
    return Address(host, int(port))


def host(value: Any) -> str:
    """Read a host: dotted IPv4, IPv6 or a name."""
    if not isinstance(value, str) or not is_host(value):
        raise ValueError('must be an IP address or a host name, like "203.0.113.7"')
    return value


def ip_address(value: Any) -> str:
    """Read an IP address; IPv4 inside IPv6 becomes that IPv4 address."""
    try:
        return str(parse_host(value if isinstance(value, str) else ""))
    except ValueError:
        raise ValueError('must be an IP address, like "192.0.2.7"') from None


def network(value: Any) -> str:
    """Read an IP address or a network, like ``192.0.2.0/24``."""
    try:
        return str(ipaddress.ip_network(value if isinstance(value, str) else ""))
    except ValueError:
        raise ValueError('must be an IP address or network, like "192.0.2.0/24"') from None


def https_origin(value: Any) -> str:
    """Read ``https://HOST`` or ``https://HOST:PORT``; return it as browsers write an origin."""
    match = _HTTPS.fullmatch(str(value).lower())
    port = int(match[2] or 443) if match else 0
    name = match[1] if match else ""
    # Brackets must surround an IPv6 address and nothing else.
    in_brackets = name.startswith("[") == (":" in name)
    if not in_brackets or not is_host(name.strip("[]")) or not 0 < port <= 65535:
        raise ValueError('must be "https://HOST" or "https://HOST:PORT", nothing behind it')
    # Browsers leave out the default port of HTTPS, and origins are compared as texts.
    return f"https://{name}" + (f":{port}" if port != 443 else "")


def crc_seed(value: Any) -> int | None:
    """Read the session check key: ``"random"`` (None) or a number of 32 bits."""
    if value == "random":
        return None
    try:
        return WholeNumber(0, 0xFFFFFFFF, from_text=True)(value)
    except ValueError:
        raise ValueError('must be "random" or a number from 0 to 4294967295') from None


def path(value: Any) -> Path:
    """Read a file or folder name; ``~`` stands for the home folder."""
    if not isinstance(value, str) or not value or "\0" in value or not _may_be_named(value):
        raise ValueError("must be the name of a file")
    return at_home(value)


def database_url(value: Any) -> Where:
    """Read a database URL: ``sqlite:FILE`` or ``postgresql://USER@HOST/DATABASE``."""
    if isinstance(value, str) and value.lstrip().startswith("postgres"):
        return ServerUrl.parse(value)
    return sqlite_url(value)


def sqlite_url(value: Any) -> Path:
    """Read the URL of a file: ``sqlite:FILE``, also as ``sqlite:///FILE`` for an absolute name."""
    scheme, _, rest = value.partition(":") if isinstance(value, str) else ("", "", "")
    rest = rest.removeprefix("//")
    if scheme != "sqlite" or not rest or rest == "/" or "\0" in rest or not _may_be_named(rest):
        raise ValueError(
            'must be "sqlite:FILE", like "sqlite:/var/lib/eq2emu/emu.sqlite",'
            ' or "postgresql://USER@HOST/DATABASE"'
        )
    return at_home(rest)


def color_change(value: Any) -> tuple[int, int, int]:
    """Read a color change: ``BYTE:VALUE``, with ``:COLOR`` for 16 bits of color."""
    parts = value.split(":") if isinstance(value, str) else ()
    try:
        numbers = [
            WholeNumber(0, most, from_text=True)(part)
            for part, most in zip(parts, _CHANGE, strict=False)
        ]
    except ValueError:
        numbers = []
    # `zip` ignores a fourth part, so the lengths are compared.
    if len(numbers) not in (2, 3) or len(parts) > len(numbers):
        raise ValueError('must be "BYTE:VALUE" or "BYTE:VALUE:COLOR", like "0:0x0a"')
    place, change, color = (*numbers, 0)[:3]
    return place, change, color


def fingerprint(value: Any) -> str:
    """Read the SHA-256 fingerprint of a certificate: 64 hex digits, colons allowed."""
    digits = value.replace(":", "").lower() if isinstance(value, str) else ""
    if not re.fullmatch(r"[0-9a-f]{64}", digits):
        raise ValueError("must be a SHA-256 fingerprint of 64 hex digits")
    return digits


def fingerprint_or_none(value: Any) -> str:
    """Read the fingerprint of a certificate; empty text is a peer without TLS."""
    return "" if value == "" else fingerprint(value)


def node_name(value: Any) -> str:
    """Read the name of a node; empty for the machine's."""
    # Names appear in topics of the bus, in logs and in commands.
    if not isinstance(value, str) or not re.fullmatch(r"[a-z0-9_-]{0,31}", value):
        raise ValueError("must have at most 31 of these characters: a-z, 0-9, - and _")
    return value


def bus_url(value: Any) -> str:
    """Read the addresses of brokers, empty for none. A password there would be shown."""
    brokers = value.split(",") if isinstance(value, str) else [""]
    if value != "" and not all(
        re.fullmatch(r"(?:nats|tls)://(?:[\w.-]+|\[[0-9a-fA-F:]+\])(?::[0-9]{1,5})?", one)
        for one in brokers
    ):
        raise ValueError(
            "must be nats://HOST:PORT or tls://HOST:PORT; user and password belong in"
            " bus.credentials_file"
        )
    return str(value)


def bus_prefix(value: Any) -> str:
    """Read the first tokens of subjects."""
    if not isinstance(value, str) or not re.fullmatch(r"[a-z0-9_-]+(\.[a-z0-9_-]+){0,3}", value):
        raise ValueError("must be a word of a-z, 0-9, - and _, or several with dots")
    return value


def at_home(name: str) -> Path:
    """Return a path with its leading ``~`` replaced. Raises `ValueError` for an unknown user."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        raise ValueError("must not name the home folder of an unknown user") from None


def _may_be_named(name: str) -> bool:
    """Return whether a file can have this name; other names fail later, in many places."""
    parts = os.fsencode(name).split(b"/")
    # Linux counts the zero byte behind a path, but none behind a name.
    return len(os.fsencode(name)) < LONGEST_PATH and max(map(len, parts)) <= LONGEST_FILE_NAME


BUS_URL: Final = Form(bus_url, "nats://HOST:PORT, or empty")
BUS_PREFIX: Final = Form(bus_prefix, "words of a-z, 0-9, - and _, with dots")
NODE_NAME: Final = Form(node_name, "a-z, 0-9, - and _")
ADDRESS: Final = Form(address, "host:port")
HOST_OR_NONE: Final = OrNone(Form(host, "host name or IP address"))
HOST: Final = Form(host, "host name or IP address")
IP_ADDRESS: Final = Form(ip_address, "IP address")
NETWORK: Final = Form(network, "IP address or network")
HTTPS_ORIGIN_OR_NONE: Final = OrNone(Form(https_origin, "https://HOST or https://HOST:PORT"))
CRC_SEED: Final = Form(
    crc_seed, '"random", or 0 to 4294967295', lambda seed: "random" if seed is None else seed
)
PATH: Final = Form(path, "file name")
DATABASE_URL: Final = Form(database_url, "sqlite:FILE or postgresql://USER@HOST/DATABASE", shown)
COLOR_CHANGE: Final = Form(
    color_change, "BYTE:VALUE or BYTE:VALUE:COLOR", lambda change: ":".join(map(str, change))
)
FINGERPRINT_OR_NONE: Final = Form(fingerprint_or_none, "64 hex digits, or empty")
