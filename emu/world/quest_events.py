"""Events of quests: what happens in a player's journal."""

from __future__ import annotations

from dataclasses import dataclass

from emu.world.events import PlayerEvent


@dataclass(frozen=True, slots=True)
class QuestEvent(PlayerEvent):
    """Something has happened to a quest of a player."""

    quest: int
    """The number of the quest."""


@dataclass(frozen=True, slots=True)
class QuestOffered(QuestEvent):
    """A player was offered a quest."""


@dataclass(frozen=True, slots=True)
class QuestAccepted(QuestEvent):
    """A player has taken a quest."""


@dataclass(frozen=True, slots=True)
class QuestStepChanged(QuestEvent):
    """A step of a quest was counted, is done or has failed."""

    step: int
    is_done: bool


@dataclass(frozen=True, slots=True)
class QuestCompleted(QuestEvent):
    """A player has completed a quest."""

    times: int
    """How often it has completed it now."""


@dataclass(frozen=True, slots=True)
class QuestDropped(QuestEvent):
    """A player has given a quest up, or it was taken away."""


@dataclass(frozen=True, slots=True)
class QuestsDue(PlayerEvent):
    """Scripts that were read anew ask for the rewards of quests of a player in the world."""
