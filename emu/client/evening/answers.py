"""Answers to windows: offers, rewards, lessons, talks, ways, loot.

Each window waits a second, as if somebody read it. They are answered in the order in which they
came.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Any, Final

from emu.client.evening.reading import DialogChoices, has_word
from emu.client.evening.visits import LONG_AGO
from emu.client.world import WorldClientCore
from emu.client.world import windows as shown
from emu.client.world.events import (
    DialogOpened,
    LineShown,
    OptionsShown,
    RevivalOffered,
    Vanished,
    WaysShown,
    WorldEvent,
)
from emu.times import Monotonic

READING: Final = 1.0
"""What it waits before it answers a window."""
SERVER_GOAL: Final = "server"
"""The goal of a lesson that the server sees reached; the client sees all others itself."""
AT_ONCE: Final = 1.0
"""How soon the next question of a talk comes after an answer."""
TALKS_ON: Final = 6.0
"""How long it waits for the rest of a talk: scripts let people sing or strike in between."""
MOST_LOOTS: Final = 2
NO_PLACE: Final = "free slots"
"""What the world says when the bags are full."""
MAKES_PLACE: Final = 25.0
"""What it waits with the next reward then, so that it can make place."""
Answer = Callable[[], None]


class WindowAnswers:
    """The open windows of one player."""

    def __init__(
        self, core: WorldClientCore, choices: DialogChoices, refused: Sequence[str], *,
        note: Callable[[str, str], None], may_leave: Callable[[], bool], wanted: Callable[[], str],
        wants_quest: Callable[[str], bool],
    ) -> None:  # fmt: skip
        """`may_leave` says whether a question about leaving the zone may be answered with yes.

        `wanted` names the choice that the present errand needs, if a window has it. `wants_quest`
        says whether it takes up a quest with a title.
        """
        self._core = core
        self.choices = choices
        self._refused = refused
        self._note = note
        self._may_leave = may_leave
        self._wanted = wanted
        self._wants_quest = wants_quest
        self._looted: Counter[int] = Counter()
        """How often the window of a body has come, by its index."""
        self._waiting: deque[tuple[Monotonic, Answer]] = deque()
        self._put_off: deque[tuple[Monotonic, Answer]] = deque()
        """Rewards for which the bags had no place."""
        self._full_until = LONG_AGO
        self._now = LONG_AGO
        self._answered_at = LONG_AGO
        """When it has answered a talk last."""
        self._kinds: dict[type, Callable[[Any], Answer | None]] = {
            shown.OfferShown: self._offer,
            shown.RewardOffered: self._reward,
            shown.LessonShown: self._lesson,
            shown.ChoiceOffered: self._question,
            shown.LootShown: self._loot,
            shown.HousePriced: self._price,
            shown.HouseShown: self._house,
            shown.PlaceAsked: self._place,
            DialogOpened: self._dialog,
            OptionsShown: lambda _: self._choose,
            WaysShown: lambda _: self._travel,
            RevivalOffered: self._revival,
        }

    def handle_event(self, event: WorldEvent, now: Monotonic) -> None:
        """Queue the answer to a window; of other events only full bags change something."""
        self._now = now
        if isinstance(event, LineShown) and NO_PLACE in event.text:
            self._full_until = Monotonic(now + MAKES_PLACE)
        elif isinstance(event, Vanished):
            self._looted.pop(event.index, None)  # its number is another body's next
        plan = self._kinds.get(type(event))
        answer = plan(event) if plan is not None else None
        if answer is None:
            return
        if isinstance(event, shown.RewardOffered) and now < self._full_until:
            self._put_off.append((self._full_until, answer))
        else:
            self._waiting.append((Monotonic(now + READING), answer))

    def forget(self) -> None:
        """Forget all windows: they are closed in another zone."""
        self._waiting.clear()
        self._put_off.clear()
        self._looted.clear()
        self._answered_at = LONG_AGO

    def think(self, now: Monotonic) -> bool:
        """Answer a window that is due; return whether one waits that is not put off."""
        self._now = now
        if self._put_off and now >= self._put_off[0][0]:
            self._waiting.append(self._put_off.popleft())
        if not self._waiting:
            return False
        due, answer = self._waiting[0]
        if now >= due:
            self._waiting.popleft()
            answer()
        return True

    def talk_goes_on(self, now: Monotonic) -> bool:
        """Return whether the rest of a talk may come yet, so that nobody should go away."""
        return now < self._answered_at + TALKS_ON and self.choices.may_go_on

    # -- windows ----------------------------------------------------------------------------------

    def _offer(self, event: shown.OfferShown) -> Answer:
        is_refused = has_word(event.title, self._refused)
        if is_refused or not self._wants_quest(event.title):
            return lambda: self._core.command(event.decline)
        return lambda: self._core.command(event.accept)

    def _reward(self, event: shown.RewardOffered) -> Answer | None:
        self._note("reward", f"{event.title}: {', '.join(event.things)}, {event.coins} c")
        # Nobody answers a window that shows coins alone; the standings wait for the answer.
        if not event.choices and not event.things and not event.factions:
            return None
        one = event.choices[0] if event.choices else 0
        return lambda: self._core.command(f"accept_reward {one} {one}")

    def _lesson(self, event: shown.LessonShown) -> Answer | None:
        if not event.signal or any(SERVER_GOAL in goal for goal in event.goals):
            return None
        return lambda: self._core.signal(event.signal)

    def _question(self, event: shown.ChoiceOffered) -> Answer:
        is_refused = has_word(event.text, self._refused)
        return lambda: self._core.command(event.cancel if is_refused else event.accept)

    def _loot(self, event: shown.LootShown) -> Answer | None:
        # The window comes again when something is taken, and when the bags are full.
        self._looted[event.index] += 1
        if self._looted[event.index] == 1:
            self._note("loot", ", ".join(name for _, name in event.things) or "no thing")
        if not event.things or self._looted[event.index] > MOST_LOOTS:
            return None
        return lambda: self._core.loot_all(event.index)

    def _price(self, event: shown.HousePriced) -> Answer | None:
        if not event.may_buy:
            return None
        self._note("buy", f"{event.name} for {event.price} c")
        return lambda: self._core.buy_house(event.number)

    def _house(self, event: shown.HouseShown) -> Answer:
        self._note("use", f"house: {event.name}")
        if event.is_inside:
            return lambda: self._core.command("leave_house")
        return lambda: self._core.enter_house(event.number)

    def _place(self, event: shown.PlaceAsked) -> Answer:
        return lambda: self._core.put_thing(event.index, self._core.place)

    def _revival(self, event: RevivalOffered) -> Answer:
        number = event.places[0][0] if event.places else 0
        return lambda: self._core.command(f"select_junction {number}")

    def _dialog(self, event: DialogOpened) -> Answer:
        follows = self._now < self._answered_at + AT_ONCE or self.talk_goes_on(self._now)
        return lambda: self._talk(event.conversation, follows=follows)

    def _talk(self, number: int, *, follows: bool) -> None:
        dialog = self._core.dialog
        if dialog is None or dialog.conversation != number:
            return  # another one has opened, or the server has closed it
        if not dialog.choices:
            self._core.close_dialog()
            return
        at = self.choices.choose(
            f"{dialog.title} {dialog.text}", dialog.choices, may_leave=self._may_leave(),
            follows=follows,
        )  # fmt: skip
        self._answered_at = self._now
        self._note("talk", f"{dialog.text[:60]!r} -> {dialog.choices[at][:60]!r}")
        self._core.answer(at + 1)

    def _choose(self) -> None:
        options = self._core.options
        if options is None or not options.rows:
            return
        names = [row.name.strip() for row in options.rows]
        at = self.choices.choose(options.title, names, wanted=self._wanted())
        self._note("talk", f"{options.title}: {names[at]}")
        self._core.choose(names[at])

    def _travel(self) -> None:
        ways = self._core.ways
        if ways is None or not ways.ways:
            return
        names = [way.name for way in ways.ways]
        wanted = self._wanted()
        if wanted and wanted.strip() not in (one.strip() for one in names):
            return  # it has seen where this leads, and wants to go elsewhere
        at = self.choices.choose("ways", names, wanted=wanted)
        self._note("talk", f"way to {names[at]}")
        self._core.travel(names[at])
