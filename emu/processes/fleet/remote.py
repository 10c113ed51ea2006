"""What a member has of the hub, in the form of the ports: one call each, see `calls`.

Each raises `StoreError` when the hub cannot be reached or cannot do it, and `OutOfDate` for a
character that another process plays by now.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from emu.model import Handoff, Hotkey, Membership, Place, Title, WorldCharacter
from emu.processes.fleet.calls import Counter
from emu.times import Moment


class RemoteKeys:
    """Implements `emu.processes.ports.HandoffKeys`."""

    def __init__(self, counter: Counter) -> None:
        self._ask = counter.ask

    async def issue(self, account_id: int, char_id: int, name: str) -> int:
        """Return a new key."""
        key: int = await self._ask("keys.issue", account_id, char_id, name)
        return key

    async def redeem(self, account_id: int, key: int) -> Handoff | None:
        """Take a key back."""
        found: Handoff | None = await self._ask("keys.redeem", account_id, key)
        return found

    async def withdraw(self, char_id: int) -> None:
        """Forget every key of a character."""
        await self._ask("keys.withdraw", char_id)

    async def withdraw_account(self, account_id: int) -> None:
        """Forget every key of an account."""
        await self._ask("keys.withdraw_account", account_id)

    async def held_by_others(self, account_id: int) -> int:
        """Return how many keys are outstanding that are not this account's."""
        count: int = await self._ask("keys.held_by_others", account_id)
        return count


class RemoteCharacters:
    """Implements `emu.world.ports.WorldCharacterStore`."""

    def __init__(self, counter: Counter) -> None:
        self._ask = counter.ask

    async def create(self, character: WorldCharacter) -> WorldCharacter:
        """Store a new character and return it with its id."""
        made: WorldCharacter = await self._ask("characters.create", character)
        return made

    async def find(self, char_id: int) -> WorldCharacter | None:
        """Return a character that is not deleted."""
        found: WorldCharacter | None = await self._ask("characters.find", char_id)
        return found

    async def find_named(self, name: str) -> WorldCharacter | None:
        """Return a character that is not deleted by its name, without regard to case."""
        found: WorldCharacter | None = await self._ask("characters.find_named", name)
        return found

    async def of_account(self, account_id: int) -> Sequence[WorldCharacter]:
        """Return an account's characters that are not deleted."""
        found: Sequence[WorldCharacter] = await self._ask("characters.of_account", account_id)
        return found

    async def delete(self, account_id: int, char_id: int) -> bool:
        """Mark one deleted."""
        done: bool = await self._ask("characters.delete", account_id, char_id)
        return done

    async def set_admin_status(self, char_id: int, status: int) -> None:
        """Set a character's rank, or ban it."""
        await self._ask("characters.set_admin_status", char_id, status)

    async def played(self, char_id: int, moment: Moment) -> None:
        """Remember when a character was played last."""
        await self._ask("characters.played", char_id, moment)

    async def save_place(self, char_id: int, zone_id: int, place: Place) -> None:
        """Remember where a character is."""
        await self._ask("characters.save_place", char_id, zone_id, place)

    async def save_mute(self, char_id: int, until: Moment) -> None:
        """Remember until when a character may not speak."""
        await self._ask("characters.save_mute", char_id, until)


class RemoteBelongings:
    """Implements `emu.world.ports.BelongingsStore`."""

    def __init__(self, counter: Counter) -> None:
        self._ask = counter.ask

    async def save_relations(self, char_id: int, relations: Sequence[tuple[int, str]]) -> None:
        """Replace a character's lists of friends and ignored ones."""
        await self._ask("belongings.save_relations", char_id, relations)

    async def save_titles(
        self, char_id: int, titles: Sequence[Title], prefix: str, suffix: str
    ) -> None:
        """Replace a character's titles and those of them that it bears."""
        await self._ask("belongings.save_titles", char_id, titles, prefix, suffix)

    async def save_hotkeys(self, char_id: int, hotkeys: Sequence[Hotkey]) -> None:
        """Replace what stands on a character's hotbars."""
        await self._ask("belongings.save_hotkeys", char_id, hotkeys)

    async def save_channels(self, char_id: int, channels: Sequence[Membership]) -> None:
        """Replace the channels a character is in."""
        await self._ask("belongings.save_channels", char_id, channels)


class RemoteModels:
    """Implements `emu.looks.models.ModelSource`."""

    def __init__(self, counter: Counter) -> None:
        self._ask = counter.ask

    async def model_numbers(self, paths: Collection[str]) -> Mapping[str, int]:
        """Return the numbers of those paths that are known."""
        found: Mapping[str, int] = await self._ask("models.model_numbers", sorted(paths))
        return found
