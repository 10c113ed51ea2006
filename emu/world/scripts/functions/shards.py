"""Functions for the script of spirit shards.

Source: docs/guides/lua.md#shards.
"""

from __future__ import annotations

from typing import Final

from emu.scripts.signatures import FunctionTable
from emu.world.combat.shards import StandingShard
from emu.world.scripts.bodies import Body
from emu.world.scripts.host import Scripts

SHARDS: Final = FunctionTable()


def _standing(scripts: Scripts, body: Body | None) -> StandingShard | None:
    return None if body is None else scripts.shards.standing(body.spawn)


@SHARDS("GetShardID", "S spawn")
def get_shard(scripts: Scripts, body: Body | None) -> int:
    """Return the number of a spirit shard; 0 for any other spawn."""
    found = _standing(scripts, body)
    return 0 if found is None else found.shard.number_in_world(found.owner.id)


@SHARDS("GetShardCharID", "S spawn")
def get_owner(scripts: Scripts, body: Body | None) -> int:
    """Return the number of the character who left a spirit shard; 0 for any other spawn."""
    found = _standing(scripts, body)
    return 0 if found is None else found.owner.id


@SHARDS("GetShardCreatedTimestamp", "S spawn")
def get_time(scripts: Scripts, body: Body | None) -> int:
    """Return when a spirit shard was left, in seconds since 1970; 0 for any other spawn."""
    found = _standing(scripts, body)
    return 0 if found is None else int(found.shard.made)


@SHARDS("DeleteDBShardID", "u number")
def delete_shard(scripts: Scripts, number: int) -> bool:
    """Forget a spirit shard; true if it was stored. Its spawn stays until it is despawned."""
    return scripts.shards.forget(number)
