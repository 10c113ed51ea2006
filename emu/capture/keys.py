"""Session keys from outside a capture: a text format, and the same text in a pcapng file.

Each line has one key; words are separated by blanks, and ``#`` begins a comment:

    check SESSION 33624702
    rc4 SESSION 0807060504030201

SESSION is the session id as eight hexadecimal digits (as in SessionRequest), the client's
``address:port``, or ``*`` for every session without a line of its own. The check key is the number
of SessionResponse; the RC4 key is K of docs/protocol/transport.md#keys, the key of the server's
direction. With both keys a session can be followed from its first encrypted message on.

A capture usually contains both keys. A key file is needed if the capture begins after
SessionResponse, or if the server used a real RSA key.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from emu.capture.formats.records import Address, show_address
from emu.errors import FileFormatError

MAX_KEYS = 100_000
"""Lines in one ring; a server's trace has two for each session."""
RC4_BYTES = 8

_Key = TypeVar("_Key", int, bytes)


class KeyRing:
    """The keys from outside, by session id, client, or for every session."""

    __slots__ = ("_check", "_rc4")

    def __init__(self) -> None:
        self._check: dict[str, int] = {}
        self._rc4: dict[str, bytes] = {}

    def add_text(self, text: str, *, name: str = "key file") -> None:
        """Add every line of `text`; raises `FileFormatError` for the first bad line."""
        for number, line in enumerate(text.splitlines(), 1):
            words = line.partition("#")[0].split()
            if not words:
                continue
            # A key file may come from anybody, so the number of keys is limited.
            if len(self._check) + len(self._rc4) >= MAX_KEYS:
                raise FileFormatError(f"more than {MAX_KEYS} keys", place=name)
            try:
                self._add(words)
            except ValueError as error:
                raise FileFormatError(str(error), place=f"{name}, line {number}") from None

    def check_key(self, session_id: int | None, client: Address) -> int | None:
        """Return the check key of a session, or None."""
        return _find(self._check, session_id, client)

    def rc4_key(self, session_id: int | None, client: Address) -> bytes | None:
        """Return the 8-byte RC4 key K of a session, or None."""
        return _find(self._rc4, session_id, client)

    def candidates(self) -> Iterator[tuple[int, bytes | None]]:
        """Yield each session's check key, with its RC4 key if there is one."""
        for session, check_key in self._check.items():
            yield check_key, self._rc4.get(session)

    def _add(self, words: list[str]) -> None:
        if len(words) != 3 or words[0] not in ("check", "rc4"):
            raise ValueError("expected: check|rc4, session id or address:port or *, key in hex")
        kind, session, key = words
        session = session.lower()
        try:
            data = bytes.fromhex(key)
        except ValueError:
            raise ValueError(f"{key[:40]!r} is not a key in hex") from None
        wanted = 4 if kind == "check" else RC4_BYTES
        if len(data) != wanted:
            raise ValueError(f"a {kind} key has {2 * wanted} hex digits")
        if kind == "check":
            self._check[session] = int.from_bytes(data, "big")
        else:
            self._rc4[session] = data


def key_lines(session_id: int, *, check_key: int | None, rc4_key: bytes | None) -> str:
    """Return the lines with the keys of one session."""
    lines = []
    if check_key is not None:
        lines.append(f"check {session_id:08x} {check_key:08x}\n")
    if rc4_key is not None:
        lines.append(f"rc4 {session_id:08x} {rc4_key.hex()}\n")
    return "".join(lines)


def _find(keys: dict[str, _Key], session_id: int | None, client: Address) -> _Key | None:
    # The session id is the most exact; an address may have had several sessions.
    if session_id is not None:
        key = keys.get(f"{session_id:08x}")
        if key is not None:
            return key
    return keys.get(show_address(client), keys.get("*"))
