"""What a world answers to requests that the login server handed on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlayResponse:
    """A world's answer to a play request (UsertoWorldResp, docs/protocol/link.md#play)."""

    world_id: int
    account_id: int
    char_id: int
    access_key: int
    response: int
    """A play reply code of docs/protocol/characters.md#play-reply."""
    address: str
    port: int


@dataclass(frozen=True, slots=True)
class CreateResponse:
    """A world's answer to a create request (CharacterCreate, docs/protocol/link.md#create)."""

    world_id: int
    account_id: int
    """0 when the world could not even parse the request."""
    char_id: int
    response: int
