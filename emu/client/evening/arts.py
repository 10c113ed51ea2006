"""The spells and arts that a client that plays casts in its fights.

It learns what each one does from what it sees: a blow with the line of its success, or a success on
itself. What strikes is cast again and again, what only helps now and then, what has healed it when
it is wounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from emu.client.evening.visits import LONG_AGO
from emu.client.world.events import (
    BlowSeen,
    CastBegun,
    CastRefused,
    LineShown,
    WorldEvent,
    ZoneToLoad,
)
from emu.times import Monotonic

CAST_PAUSE: Final = 3.0
"""Between two spells in a fight, and after it has tried all of them in vain."""
RECOVERY: Final = 0.5
"""After a spell that has succeeded."""
HELPS_FOR: Final = 180.0
"""How long it does not cast again what does not strike."""
LASTS_FOR: Final = 600.0
"""The same for what lasts until it is cast once more, which takes it off."""
TAKEN_OFF: Final = 0.5
"""How soon after the cast the line of that comes."""
WOUNDED: Final = 0.5
"""The part of its health below which it heals itself."""
HEALTHY: Final = 0.9
"""The part of its health with which it does not heal itself."""
HEALED: Final = 0.05
"""The least part of its health that it gets by a spell that heals."""
HEALS_WITHIN: Final = 2.0
"""How soon after the success of such a spell."""
FADES: Final = " fades."
SUCCESS: Final = "was successful on"
SUCCEEDS: Final = "spell_success"
"""The color of the line of a success: many spells have a text of their own."""
AT_ONCE: Final = 0.2
"""How far apart a blow and the line of its spell come."""


class Arts:
    """The choice of one player's spells, by their numbers."""

    def __init__(self) -> None:
        self._due = Monotonic(0.0)
        self._last: int | None = None
        """The spell that it has cast last."""
        self._is_refused = False
        self._refusals = 0
        """Spells in a row that could not be cast."""
        self._strikes: set[int] = set()
        """Those that were seen to strike."""
        self._cast: dict[int, Monotonic] = {}
        """When each one was tried last."""
        self._helped: dict[int, Monotonic] = {}
        """When those that do not strike have succeeded last."""
        self._lasting: set[int] = set()
        """Those that a second cast has taken off."""
        self._heals: set[int] = set()
        """Those after which it had more health."""
        self._health_before = 1.0
        """Its health when it has cast the last one."""
        self._succeeded = LONG_AGO
        """When the last one has succeeded on itself."""
        self._struck = LONG_AGO
        self._own_name = ""

    def handle_event(self, event: WorldEvent, own: int | None, now: Monotonic) -> None:
        """Handle an event of the client; `own` is the index of the player's ghost."""
        match event:
            case BlowSeen(attacker, _, _) if attacker == own:
                self.struck(now)
            case CastRefused():
                self.refused(now)
            case CastBegun(_, seconds):
                self.began(seconds, now)
            case LineShown(color, text):
                self.said(color, text, now)
            case ZoneToLoad():
                self._own_name = event.character
            case _:
                pass

    def choose(
        self, known: Sequence[int], now: Monotonic, health: float = 1.0
    ) -> int | None:  # fmt: skip
        """Return the spell to cast now; None for none, or as long as the last one goes on.

        `health` is the part of its health that it has.
        """
        self._learn(health, now)
        if not known or now < self._due:
            return None
        self._due = Monotonic(now + CAST_PAUSE)
        self._refusals = self._refusals + 1 if self._is_refused else 0
        self._is_refused = False
        wanted = [
            one for one in known
            if now > self._helps_until(one) and not (one in self._heals and health >= HEALTHY)
        ]  # fmt: skip
        if health < WOUNDED:
            # Those that were tried just now are not ready.
            healing = [one for one in known if one in self._heals and self._may_heal(one, now)]
            wanted = healing or wanted
        if not wanted or self._refusals >= len(wanted):
            self._refusals = 0
            return None
        self._last = min(wanted, key=lambda one: self._cast.get(one, LONG_AGO))
        self._cast[self._last] = now
        self._health_before = health
        return self._last

    def _may_heal(self, spell: int, now: Monotonic) -> bool:
        return now >= self._cast.get(spell, LONG_AGO) + CAST_PAUSE

    def _learn(self, health: float, now: Monotonic) -> None:
        """Note whether the last spell has healed it."""
        is_soon = now < self._succeeded + HEALS_WITHIN
        if self._last is not None and is_soon and health >= self._health_before + HEALED:
            self._heals.add(self._last)

    def _helps_until(self, spell: int) -> float:
        """Return until when a spell is of use that it has cast, as far as it knows."""
        since = self._helped.get(spell, LONG_AGO)
        return since + (LASTS_FOR if spell in self._lasting else HELPS_FOR)

    def began(self, seconds: float, now: Monotonic) -> None:
        """Note how long the last spell takes: the next one begins after it."""
        self._due = max(self._due, Monotonic(now + seconds + RECOVERY))

    def refused(self, now: Monotonic) -> None:
        """Note that the last spell could not be cast."""
        self._is_refused = True
        self._due = now

    def struck(self, now: Monotonic) -> None:
        """Note a blow of the player."""
        self._struck = now

    def said(self, color: str, text: str, now: Monotonic) -> None:
        """Note a line: it may say that the last spell has succeeded.

        What succeeds on the player itself does not strike, also if its weapon does at that moment.
        What fades when it is cast was on already, and is cast once more.
        """
        if self._last is not None and text.endswith(FADES):
            if now - self._cast[self._last] < TAKEN_OFF:
                self._lasting.add(self._last)
                self._cast[self._last] = LONG_AGO
                self._due = Monotonic(now + RECOVERY)
            return
        if self._last is None or (color != SUCCEEDS and SUCCESS not in text):
            return
        is_own = bool(self._own_name) and text.endswith(f" {SUCCESS} {self._own_name}!")
        if now - self._struck < AT_ONCE and not is_own:
            self._strikes.add(self._last)
        if self._last not in self._strikes:
            self._helped[self._last] = now
        if is_own:
            self._succeeded = now
        self._due = Monotonic(now + RECOVERY)
