"""Readers: each turns one TOML value, or the text of a ``--set``, into a setting's final value.

A reader raises `ValueError` whose text says what would be right; who calls it adds the key.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, TypeVar

from emu.limits.addresses import parse_host

Reader = Callable[[Any], Any]
Member = TypeVar("Member", bound=StrEnum)

LONGEST_PATH: Final = 4096
LONGEST_FILE_NAME: Final = 255
"""Bytes of what Linux can name, and of each part."""

_HOST_NAME = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9_-]{1,63}(?<!-))*\.?")
_HTTPS = re.compile(r"https://([^/:\[\]]+|\[[^/\]]+\])(?::([0-9]{1,5}))?/?")
_CHANGE = (255, 0xFF, 0xFFFF)
"""Largest byte of a name, value and color of a change."""
_WORDS: Mapping[str, bool] = {
    "true": True, "yes": True, "on": True, "false": False, "no": False, "off": False,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Address:
    """A host (dotted IPv4, IPv6 without brackets, or a name) and a port.

    Port 0 lets the system choose when listening.
    """

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def boolean(value: Any) -> bool:
    """Read true or false; a ``--set`` may also say yes, no, on, off."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in _WORDS:
        return _WORDS[value.lower()]
    raise ValueError("must be true or false")


def integer(low: int, high: int) -> Reader:
    """Make a reader of whole numbers from `low` to `high`; text may be hexadecimal (0x...)."""

    def read(value: Any) -> int:
        try:
            number = int(value, 0) if isinstance(value, str) else value
        except ValueError:
            number = None
        if not isinstance(number, int) or isinstance(number, bool) or not low <= number <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return number

    return read


def number(low: float, high: float) -> Reader:
    """Make a reader of numbers from `low` to `high`."""

    def read(value: Any) -> float:
        try:
            result = float(value) if isinstance(value, (str, int, float)) else None
        except (ValueError, OverflowError):
            result = None
        if result is None or isinstance(value, bool) or not low <= result <= high:
            raise ValueError(f"must be a number from {low:g} to {high:g}")
        return result

    return read


def text(low: int, high: int) -> Reader:
    """Make a reader of one-line text of `low` to `high` characters."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or not low <= len(value) <= high or not _printable(value):
            raise ValueError(f"must be text of {low} to {high} characters on one line")
        return value

    return read


def choice(*allowed: str) -> Reader:
    """Make a reader that takes one of a few words."""

    def read(value: Any) -> str:
        if value not in allowed:
            raise ValueError("must be one of " + ", ".join(f'"{word}"' for word in allowed))
        return str(value)

    return read


def member(kind: type[Member]) -> Reader:
    """Make a reader that takes the value of one member of an enum, and returns the member."""

    def read(value: Any) -> Member:
        try:
            return kind(value)
        except ValueError:
            words = ", ".join(f'"{one.value}"' for one in kind)
            raise ValueError(f"must be one of {words}") from None

    return read


def list_of(item: Reader, most: int) -> Reader:
    """Make a reader of lists with at most `most` items; a ``--set`` separates them by commas."""

    def read(value: Any) -> tuple[Any, ...]:
        items = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
        if items == [""]:
            items = []
        if not isinstance(items, (list, tuple)) or len(items) > most:
            raise ValueError(f"must be a list of at most {most} items")
        return tuple(item(part) for part in items)

    return read


def address(value: Any) -> Address:
    """Read ``host:port``; IPv6 addresses stand in brackets."""
    if isinstance(value, Address):
        return value
    host, _, port = value.rpartition(":") if isinstance(value, str) else ("", "", "")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        host = ""
    if not _is_host(host) or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise ValueError('must be "host:port" with a port from 0 to 65535, like "127.0.0.1:9100"')
    return Address(host, int(port))


def optional(reader: Reader) -> Reader:
    """Make a reader that lets empty text stand for "not set" (None)."""

    def read(value: Any) -> Any:
        return None if value == "" else reader(value)

    return read


def host(value: Any) -> str:
    """Read a host: dotted IPv4, IPv6 or a name."""
    if not isinstance(value, str) or not _is_host(value):
        raise ValueError('must be an IP address or a host name, like "203.0.113.7"')
    return value


def ip_address(value: Any) -> str:
    """Read an IP address; IPv4 inside IPv6 is that IPv4 address."""
    try:
        return str(parse_host(value if isinstance(value, str) else ""))
    except ValueError:
        raise ValueError('must be an IP address, like "192.0.2.7"') from None


def https_origin(value: Any) -> str:
    """Read ``https://HOST`` or ``https://HOST:PORT``, written as browsers name an origin."""
    match = _HTTPS.fullmatch(str(value).lower())
    port = int(match[2] or 443) if match else 0
    name = match[1] if match else ""
    in_brackets = name.startswith("[") == (":" in name)
    if not in_brackets or not _is_host(name.strip("[]")) or not 0 < port <= 65535:
        raise ValueError('must be "https://HOST" or "https://HOST:PORT", nothing behind it')
    return f"https://{name}" + (f":{port}" if port != 443 else "")


def crc_seed(value: Any) -> int | None:
    """Read the session check key: ``"random"`` (None) or a number of 32 bits."""
    if value == "random":
        return None
    try:
        return int(integer(0, 0xFFFFFFFF)(value))
    except ValueError:
        raise ValueError('must be "random" or a number from 0 to 4294967295') from None


def path(value: Any) -> Path:
    """Read a file or folder name; ``~`` stands for the home folder."""
    if not isinstance(value, str) or not value or "\0" in value or not _may_be_named(value):
        raise ValueError("must be the name of a file")
    return _at_home(value)


def sqlite_url(value: Any) -> Path:
    """Read a database URL: ``sqlite:FILE``, also as ``sqlite:///FILE`` for an absolute name."""
    scheme, _, rest = value.partition(":") if isinstance(value, str) else ("", "", "")
    rest = rest.removeprefix("//")
    if scheme != "sqlite" or not rest or rest == "/" or "\0" in rest or not _may_be_named(rest):
        raise ValueError('must be "sqlite:FILE", like "sqlite:/var/lib/eq2emu/emu.sqlite"')
    return _at_home(rest)


def color_change(value: Any) -> tuple[int, int, int]:
    """Read where letters change and how: ``BYTE:VALUE``, with ``:COLOR`` for 16 bits of color."""
    parts = value.split(":") if isinstance(value, str) else ()
    try:
        numbers = [integer(0, most)(part) for part, most in zip(parts, _CHANGE, strict=False)]
    except ValueError:
        numbers = []
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
    """Read the fingerprint of a certificate, or empty text for a peer that has none."""
    return "" if value == "" else fingerprint(value)


def _at_home(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:
        raise ValueError("must not name the home folder of somebody unknown") from None


def _may_be_named(name: str) -> bool:
    """Say whether the system could have a file of this name: others fail in many places."""
    parts = os.fsencode(name).split(b"/")
    return len(os.fsencode(name)) < LONGEST_PATH and max(map(len, parts)) <= LONGEST_FILE_NAME


def _is_host(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        # A name whose last part is a number would be an address that nobody has, like 10.0.0.300.
        last = name.rstrip(".").rpartition(".")[2]
        named = _HOST_NAME.fullmatch(name) is not None and not last.isdecimal()
        return named and len(name) <= 253
    return True


def _printable(value: str) -> bool:
    return all(character.isprintable() for character in value)
