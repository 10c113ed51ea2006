"""Bringing the login server's character list in line with the built-in world, both in one file.

A character is made in two steps, by the world and then by the login server, and deleted in two
steps the other way round. A process that is killed between them leaves a character that nobody
sees and whose name stays taken. Over the link nothing could ask for it again (docs/protocol/link.md
has no such message); in one database the second step is simply done at the next start.
"""

from __future__ import annotations

from collections.abc import Mapping

from emu.login.characters.creation import MODEL_FIELDS
from emu.looks.coding import SLIDER_FIELDS
from emu.looks.models import model_key, shipped_models
from emu.model import Character, WorldCharacter
from emu.store import Store
from emu.world.places import Atlas


def reconcile(store: Store, world_id: int, zones: Atlas) -> int:
    """Finish what a killed process began, in one transaction; return how many rows changed."""
    with store.transaction():
        made = [store.world.characters.find(char_id) for char_id in store.roster.unlisted(world_id)]
        for character in made:
            assert character is not None  # noqa: S101  # it was there in the same transaction
            row = listed(character, world_id, zones, _model_numbers(store, character))
            store.login.characters.add(row)
        gone = store.roster.disowned(world_id)
        for account_id, char_id in gone:
            store.world.characters.delete(account_id, char_id)
    return len(made) + len(gone)


def listed(
    character: WorldCharacter, world_id: int, zones: Atlas, models: Mapping[str, int]
) -> Character:
    """Return the list's row of a world's character; `models` is profile field -> number."""
    zone = zones.get(character.zone_id)
    body_size = character.appearance.get("body_size")
    return Character(
        id=0,
        account_id=character.account_id,
        world_id=world_id,
        char_id=character.id,
        name=character.name,
        race=character.race,
        class_=character.class_,
        gender=character.gender,
        deity=character.deity,
        level=character.level,
        zone_id=character.zone_id,
        zone_name=zone.file if zone else "",
        zone_description=zone.description if zone else "",
        created=character.created,
        last_played=character.last_played,
        client_version=character.client_version,
        appearance={"body_size": body_size, **models} if isinstance(body_size, int) else models,
        colors={SLIDER_FIELDS.get(name, name): color for name, color in character.colors.items()},
    )


def _model_numbers(store: Store, character: WorldCharacter) -> dict[str, int]:
    """Return profile field -> number for the models of a character that are known."""
    paths = {
        MODEL_FIELDS[name]: model_key(str(path))
        for name, path in character.appearance.items()
        if name in MODEL_FIELDS
    }
    known = {**store.login.models.numbers(paths.values()), **shipped_models()}
    return {field: known[path] for field, path in paths.items() if path in known}
