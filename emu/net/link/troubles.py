"""What the log says when a world and its login servers do not come together, and what to do."""

from __future__ import annotations

from typing import Final

from emu.link.settings import LoginServerAddress
from emu.net.logs import logger

_log = logger("link")

_HINTS: Final = {
    "Bad password": "its account or password is another there, it is disabled, or this machine's"
    " address is banned; the login server's log says which, and there: emu world list,"
    " emu account address list",
    "Incorrect version": "that login server takes other versions; see its link.server_versions",
    "Ghost Kick!": "another world registered with the same account",
}
"""What an operator can do about a refusal, by EQ2Emulator's text for it.

Source: docs/protocol/link.md#registration.
"""


class Troubles:
    """Tells of each lasting trouble once, not at every try, until it is over."""

    def __init__(self) -> None:
        self._unreachable: set[LoginServerAddress] = set()
        self._speak_tls: set[LoginServerAddress] = set()

    def refused(self, server: LoginServerAddress, text: str) -> None:
        """Say why a login server does not take the world."""
        _log.warn(
            "login server {server.host}:{server.port} refuses this world: {text}{hint}",
            server=server,
            text=repr(text),
            hint=f" ({_HINTS[text]})" if text in _HINTS else "",
        )

    def wrong_certificate(self, server: LoginServerAddress) -> None:
        """Say that a login server is not the one whose fingerprint is pinned."""
        _log.warn(
            "the certificate of {server.host}:{server.port} is not the pinned one; see its"
            " fingerprint there with: emu world fingerprint",
            server=server,
        )

    def unreachable(self, server: LoginServerAddress, reason: str) -> None:
        """Say that a login server does not answer."""
        if server not in self._unreachable:
            self._unreachable.add(server)
            _log.warn(
                "cannot reach login server {server.host}:{server.port} ({reason}); trying again",
                server=server,
                reason=reason,
            )

    def reached(self, server: LoginServerAddress) -> None:
        """Note that a login server answers."""
        self._unreachable.discard(server)

    def speaks_tls(self, server: LoginServerAddress) -> None:
        """Say that a login server wants TLS where the configuration has none."""
        if server not in self._speak_tls:
            self._speak_tls.add(server)
            _log.warn(
                "login server {server.host}:{server.port} speaks TLS on this port: set"
                " world.login_tls_fingerprints, or name its other port",
                server=server,
            )

    def settled(self, server: LoginServerAddress) -> None:
        """Note that a link to a login server has come to be."""
        self._speak_tls.discard(server)
