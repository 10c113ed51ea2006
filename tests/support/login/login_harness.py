"""A whole login service on fakes, and clients of any version to drive it with.

Messages of the client are put together here byte by byte from docs/protocol/login.md, not with the
project's own structs, so that both are checked against each other.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from emu.login.client import Client
from emu.login.server import LoginServer
from emu.login.service import LoginService
from emu.login.settings import LoginServiceConfig
from emu.model import Character
from emu.opcodes import shipped_tables
from emu.structs import shipped_catalog
from emu.times import Monotonic
from emu.worlds import WorldEntry
from tests.support.login.login_fakes import (
    Events,
    FakeAuthenticator,
    FakeLink,
    FakeStore,
    FakeWorlds,
    run,
)
from tests.support.times import ManualClock

ACCOUNTS = {"tester": (7, b"secret"), "other": (8, b"secret")}
NORRATH = WorldEntry(1, "Norrath", up=True, locked=False, players=3, max_level=50)


def str16(text: bytes) -> bytes:
    """Return a 16-bit counted string."""
    return struct.pack("<H", len(text)) + text


def classic_login(user: bytes, password: bytes, version: int) -> bytes:
    """Return the login request of the 2006 client, which ends after its version."""
    return str16(b"") * 2 + str16(user) + str16(password) + struct.pack("<IIH", 0, 0, version)


def later_login(user: bytes, password: bytes, version: int) -> bytes:
    """Return the login request of clients from 1208 on, with what they add at the end."""
    head = str16(b"") * 2 + str16(user) + str16(password) + struct.pack("<IIHH", 0, 0, 0, version)
    return head + bytes(15) + str16(b"STATION") + bytes(40)


def login_request(user: bytes, password: bytes, version: int) -> bytes:
    """Return the login request that a client of this version sends."""
    later = version > 1208
    return (later_login if later else classic_login)(user, password, version)


def create_request(
    version: int, name: bytes = b"Aldana", world_id: int = 1, *, placeholder: int = 26
) -> bytes:
    """Return a create request: race 9, gender 1, deity 2, class 3, colors 0.5, sliders -0.25.

    `placeholder` is the size of what old clients are said to send before the hair file, or not.
    """
    color = struct.pack("<3f", 0.5, 0.75, 1.0)
    slider = struct.pack("<3f", -0.25, 0.0, 0.5)
    model = str16(b"ec/pc/human/human_male")
    head = struct.pack("<BII", 0, 0, 0xDEADBEEF)
    head += b"" if version <= 561 else b"\0"
    head += struct.pack("<I", world_id) + str16(name) + bytes([9, 1, 2, 3, 1])
    head += struct.pack("<I", 4) if version >= 64659 else b"\x04"
    head += b"\0" if version == 546 else b""
    looks = _looks(version, color, slider, model)
    if version <= 561:
        return head + b"\x04" + model + color * 5 + bytes(placeholder) + looks
    alternate = _looks(version, color, slider, model)
    if version >= 64659:
        first = b"\x04" + model + color * 5 + bytes(38)
        second = b"\x04" + model + color * 5 + bytes(38)
        return head + first + looks + second + alternate + bytes(2)
    extra = bytes(2) if version >= 57080 else b""
    count = 5 if version < 869 else 6
    first = b"\x04" + extra + model + color * count + bytes(26)
    second = b"\x04" + model + color * (5 if version < 869 else 6) + bytes(26)
    return head + first + looks + second + alternate


def _looks(version: int, color: bytes, slider: bytes, model: bytes) -> bytes:
    """Return the part from the hair file to the age."""
    parts = 4 if version <= 561 else 5
    return (model + color * 2) * parts + color + slider * 7 + struct.pack("<2f", 0.5, 0.25)


def play_request(version: int, char_id: int, world_id: int = 1) -> bytes:
    """Return a play request of clients from 284 on."""
    assert version >= 284
    return struct.pack("<II3x", char_id, world_id)


def delete_request(char_id: int, name: bytes, world_id: int = 1) -> bytes:
    """Return a delete request."""
    return struct.pack("<III", char_id, world_id, 0) + str16(name)


def character(char_id: int = 5, name: str = "Aldana", **values: Any) -> Character:
    """Return a stored character of the account `tester`."""
    row: dict[str, Any] = {
        "id": char_id, "account_id": 7, "world_id": 1, "char_id": char_id, "name": name,
        "race": 9, "class_": 3, "gender": 1, "level": 12, "zone_id": 24, "zone_name": "qey",
        "created": 1000.0, "last_played": 2000.0,
    }  # fmt: skip
    return Character(**(row | values))


class Harness:
    """A login service whose every neighbour is in the test's hand."""

    def __init__(
        self,
        config: LoginServiceConfig | None = None,
        accounts: Mapping[str, tuple[int, bytes]] = ACCOUNTS,
    ) -> None:
        self.clock = ManualClock()
        self.authenticator = FakeAuthenticator(accounts)
        self.store = FakeStore()
        self.worlds = FakeWorlds(NORRATH)
        self.events = Events()
        self.service = LoginService(
            config=config or LoginServiceConfig(),
            opcodes=shipped_tables,
            structs=shipped_catalog(),
            authenticator=self.authenticator,
            characters=self.store,
            logs=self.store,
            worlds=self.worlds,
            zones=self.store,
            start=run,
            clock=self.clock,
            log=self.events,
        )
        self.server = LoginServer(self.service)

    @property
    def now(self) -> Monotonic:
        return self.clock.now()

    def connect(self, address: str = "192.0.2.1") -> tuple[Client, FakeLink]:
        """Return a client whose session stands."""
        link = FakeLink()
        return self.server.connect(link, address, self.now), link

    def asking(self, user: bytes, password: bytes, version: int = 546) -> tuple[Client, FakeLink]:
        """Return a client that has asked to be let in."""
        client, link = self.connect()
        self.send(client, 0, login_request(user, password, version))
        return client, link

    def login(
        self, version: int, user: bytes = b"tester", address: str = "192.0.2.1"
    ) -> tuple[Client, FakeLink]:
        """Return a client that is logged in, with nothing left to read."""
        client, link = self.connect(address)
        self.send(client, 0, login_request(user, b"secret", version))
        assert client.is_logged_in, self.events
        link.take()
        return client, link

    def listing(self, version: int) -> tuple[Client, FakeLink]:
        """Return a client that is logged in and was sent the world list."""
        client, link = self.login(version)
        self.list_worlds(client, link)
        return client, link

    def list_worlds(self, client: Client, link: FakeLink) -> list[tuple[int, bytes]]:
        """Ask for the world list and return what comes."""
        self.send(client, 7)
        return link.take()

    def send(self, client: Client, message: int | str, body: bytes = b"") -> None:
        """Give a client's message to the service, by number or by name."""
        number = message if isinstance(message, int) else client.dialect.table.number(message)
        client.message(number, body, self.now)

    def pass_time(self, client: Client, seconds: float) -> None:
        """Let time pass, and call the client's timer as often as it asks for it."""
        end = self.now + seconds
        while (due := client.get_timer()) is not None and due <= end:
            self.clock.seconds = max(self.now, due)
            client.handle_timer(self.now)
        self.clock.seconds = end
