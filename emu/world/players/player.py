"""One player in the world: character, spawn, client, and where it stands between coming and going.

Owns the state of one player; what messages do to it is in the modules beside this one. A player
whose client is gone stays for a while (link-dead) and may be taken over by the next session of the
same character.
"""

from __future__ import annotations

import enum
import math
from typing import Final

from emu.limits.throttle import RateLimit
from emu.model import Membership, Present, WorldCharacter
from emu.times import Monotonic
from emu.world.movement import Pace, StepReader
from emu.world.players.client import WorldClient
from emu.world.players.hotbars import Hotbars
from emu.world.players.relations import Relation, Relations
from emu.world.players.sheet import SheetSender
from emu.world.players.titles import Titles
from emu.world.rules import MovementRules
from emu.world.spawns import Destination, Position, Spawn
from emu.world.zone import Viewer, Zone


class PlayerState(enum.Enum):
    """Where a player stands; each state names what its client is waited for."""

    LOADING = "loading the zone"
    """It was sent the zone and has not said that it has it."""
    PLACING = "loading what is in the zone"
    """It was sent the spawns near it."""
    APPEARING = "appearing"
    """It was given its own ghost; its avatar does not stand yet."""
    STANDING = "in the zone"
    ZONING = "changing the zone"
    """It was told to connect again and has not said that it goes."""
    LINK_DEAD = "link-dead"
    GONE = "gone"


IN_ZONE: Final = frozenset((PlayerState.APPEARING, PlayerState.STANDING))
"""States in which a player's spawn is controlled by its client."""


class Player:
    """One character that is in the world."""

    __slots__ = (
        "_messages", "_speech", "_speech_rules", "away_message", "channels", "character", "client",
        "corrected", "destination", "hotbars", "is_returning", "is_travelling", "muted_until",
        "pace", "predictions", "relations", "sheet", "since", "spawn", "state", "target", "titles",
        "unsaved", "viewer", "zone", "zone_key",
    )  # fmt: skip

    def __init__(
        self,
        character: WorldCharacter,
        spawn: Spawn,
        zone: Zone,
        client: WorldClient,
        *,
        movement: MovementRules,
        now: Monotonic,
    ) -> None:
        self.character = character
        self.spawn = spawn
        self.zone = zone
        self.since = now
        """When it came in."""
        self.pace = Pace(movement, now)
        self.state = PlayerState.LOADING
        self.viewer: Viewer | None = None
        self.target: Spawn | None = None
        self.corrected = -math.inf
        """When it was last put back where it was."""
        self.destination: Destination | None = None
        """Where it goes while it changes the zone."""
        self.is_travelling = False
        """Whether a change of its zone is under way and its client not told yet."""
        self.zone_key = 0
        """The key by which its client comes back while it changes the zone."""
        self.relations = Relations((Relation(kind), name) for kind, name in character.relations)
        self.titles = Titles(character.titles, character.prefix, character.suffix)
        self.hotbars = Hotbars(character.hotkeys)
        self.channels: dict[str, Membership] = {
            one.channel.casefold(): one for one in character.channels
        }
        """Channels of players that it is in, by name without case; a `Membership` each."""
        self.unsaved: set[str] = set()
        """What changed and is not stored; `emu.world.players.saving` names it."""
        self.is_returning = False
        """Whether its client only changed the zone, and was told before what is told once."""
        self.away_message = ""
        self.muted_until = character.muted_until
        self._messages: RateLimit | None = None
        self._speech: RateLimit | None = None
        self._speech_rules = (0.0, 0)
        self.connect(client)

    def connect(self, client: WorldClient) -> None:
        """Take the session that plays this character now; what a client keeps begins anew."""
        self.client = client
        self.predictions = StepReader(client.dialect)
        self.sheet = SheetSender(client.dialect)
        self._messages = None
        self.viewer = None

    @property
    def id(self) -> int:
        """The character's id."""
        return self.character.id

    @property
    def name(self) -> str:
        """The character's name."""
        return self.character.name

    @property
    def position(self) -> Position:
        """Where the player is."""
        return self.spawn.position

    @property
    def present(self) -> Present:
        """What other processes are told of it."""
        character = self.character
        return Present(
            character.account_id,
            character.id,
            self.zone.zone_id,
            name=character.name,
            level=character.level,
            class_=character.class_,
            race=character.race,
            away="afk" in self.spawn.words,
            hidden=self.spawn.hidden,
        )

    @property
    def is_online(self) -> bool:
        """Whether a client plays it now."""
        return self.state not in (PlayerState.LINK_DEAD, PlayerState.GONE)

    def may_send(self, now: Monotonic, rate: float, burst: int) -> bool:
        """Count a message of its client; False when it sends more than `rate` a second allows."""
        if self._messages is None:
            self._messages = RateLimit(rate, burst, now)
        return self._messages.take(1, now)

    def may_speak(self, now: Monotonic, rate: float, burst: int) -> bool:
        """Count one message; False when it speaks faster than `rate` a second allows."""
        if self._speech is None or self._speech_rules != (rate, burst):
            self._speech, self._speech_rules = RateLimit(rate, burst, now), (rate, burst)
        return self._speech.take(1, now)

    def index_of(self, spawn: Spawn) -> int | None:
        """Return the index by which its client knows a spawn."""
        return self.viewer.sights.index_of(spawn) if self.viewer is not None else None
