"""Which worlds may register, and with which of EQ2Emulator's texts the others are refused.

Decides on `LSInfo` and a stored row; asks no store and keeps nothing. Source:
docs/protocol/link.md#registration.
"""

from __future__ import annotations

from dataclasses import dataclass

from emu.link.login_end import BAD_PASSWORD, INCORRECT_VERSION, POSSIBLE_HACKING
from emu.link.password import is_link_hash
from emu.link.registration import PROTOCOL_VERSION, TYPE_DEVELOPMENT, TYPE_WORLD, LSInfo
from emu.login.settings import DirectoryConfig
from emu.structs import StructCatalog

ACCOUNT_SIZE = 29
"""Bytes of a link account that count; EQ2Emulator cuts the rest off."""
LEAST_NAME = 4

PLAYER_LIMIT_TEXT = "Your server reports more players than are allowed."
ZONE_LIMIT_TEXT = "Your server reports more zones than are allowed."


@dataclass(frozen=True, slots=True)
class Refusal:
    """A world may not register: `text` for it, `reason` for the counters."""

    text: str
    reason: str


def check_introduction(info: LSInfo, config: DirectoryConfig) -> Refusal | None:
    """Judge what a world says about itself, before anything is looked up."""
    if info.protocol_version != PROTOCOL_VERSION:
        return Refusal(INCORRECT_VERSION, "protocol version not supported")
    if "*" not in config.server_versions and info.server_version not in config.server_versions:
        return Refusal(INCORRECT_VERSION, "server version not allowed")
    if info.server_type not in (TYPE_WORLD, TYPE_DEVELOPMENT):
        return Refusal(POSSIBLE_HACKING, "server type not supported")
    name, account = name_of(info), account_of(info)
    if len(name) < LEAST_NAME or not (name.isprintable() and account.isprintable()):
        return Refusal(BAD_PASSWORD, "world name not allowed")
    if not account or not is_link_hash(info.password):
        return Refusal(BAD_PASSWORD, "bad password")
    return None


def account_of(info: LSInfo) -> str:
    """Return the link account that counts, without blanks at its ends."""
    return info.account.encode()[:ACCOUNT_SIZE].decode(errors="ignore").strip()


def name_of(info: LSInfo) -> str:
    """Return the name the world wants, without blanks at its ends."""
    return info.name.strip()


def account_id_offset(catalog: StructCatalog, version: int) -> int:
    """Return where a client version's create request has its account id.

    Raises `UnknownStruct` when no layout covers the version.
    """
    layout = catalog.layout("CreateCharacter", max(1, version), create_color=True)
    mark = 0xFFFFFFFF
    plain, marked = layout.encode({}), layout.encode({"account_id": mark}, strict=True)
    return next(place for place, byte in enumerate(plain) if marked[place] != byte)
