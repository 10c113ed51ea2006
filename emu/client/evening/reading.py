"""The meaning of tasks and talks to a client that plays: names in texts, and choices.

A player reads "I must kill the rats on the deck." and looks for a rat. `fit` does the same: it
says how well the name of a ghost fits a text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

_WORD: Final = re.compile(r"[a-z']+")
_ARTICLES: Final = frozenset((
    "a", "an", "the", "of", "to", "and", "with", "in", "on", "at", "from", "for", "some", "widget",
    "player", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
))  # fmt: skip
"""Words of names that name nothing."""
_MEANS: Final = {"room": "housing", "inn": "housing", "house": "housing", "cave": "lair"}
"""Words of texts, and the words of technical names that stand for the same."""
TECHNICAL: Final = "_"
"""What names of things have that only programs were meant to read."""
_PLURALS: Final = (("ves", "f"), ("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"),
                   ("shes", "sh"))  # fmt: skip
_COMPASS: Final = {f"{one}ern": one for one in ("north", "south", "east", "west")}
_SIDES: Final = {"north": (0, -1), "south": (0, 1), "east": (-1, 0), "west": (1, 0)}
"""Where x and z grow to: north is where z falls, and west where x rises."""
_KEEPS_S: Final = ("ss", "us", "is")
_FULL_NAME: Final = re.compile(r"[A-Z][\w'`]*(?:[ -][A-Z][\w'`]*)+")
"""Words with capital letters one after the other: "Squire Moorford"."""
_ARTICLE: Final = " the "
_TITLED: Final = re.compile(r"\b([a-z][\w'`]*) (?=[A-Z])")
"""A word before a name: "the soldier Homrie"."""
LEAST_NAME: Final = 4
"""Letters of a word that names somebody by itself."""
GOOD: Final = 0.5
"""The least fit of a name that a text means."""
LEAVING: Final = ("leave", "leaving")
"""Words of a question that asks whether the player wants to go to another zone."""
_CALM: Final = frozenset((
    "speak", "talk", "report", "return", "tell", "bring", "give", "take", "scout", "enter",
    "visit", "explore",
))  # fmt: skip
_KILLS: Final = frozenset(("kill", "slay", "destroy", "hunt", "defeat", "collect", "attack"))
_HUNTS: Final = frozenset(("kill", "slay", "hunt", "defeat"))
_CRAFTS: Final = frozenset(("craft", "create", "brew", "bake"))
_GATHERS: Final = frozenset((
    "gather", "collect", "harvest", "harvesting", "mine", "chop", "fish", "catch", "dig",
))  # fmt: skip
_VISITS: Final = frozenset(("visit", "find", "locate", "look", "explore", "scout", "see", "pay"))
_SOMEBODY: Final = re.compile(r"\b(?:find|locate|see) (?:[A-Z][\w'`]*[ .!]*)+$")
"""The end of a text that only names whom or what to find."""
_GOING: Final = re.compile(r"\b(get|go|travel) to\b", re.IGNORECASE)
_PLACES: Final = re.compile(r"\bplace\W{1,2}(the|my|your|this|it)\b", re.IGNORECASE)
_LEADING: Final = re.compile(r"\b(?i:pull|lure|lead|draw)\b[^.]* to [A-Z]")
"""A task with a person to whom somebody is led."""
_NEAR: Final = re.compile(r"\b(?:near|around|behind|beside) the ([a-z]+)")
_WAYS: Final = frozenset((
    "to", "zone", "door", "gate", "gates", "entrance", "exit", "bell", "grate", "ladder", "stairs",
    "portal", "tunnel", "leave",
))  # fmt: skip
_TO: Final = re.compile(r"To \w")
_VOWELS: Final = frozenset("aeiou")
SHORTENED: Final = 3
"""The least letters of a word that is left of a longer one."""
_HUBS: Final = frozenset(("bell", "portal", "station"))
GOES_ON: Final = 0.5
"""What counts for an answer behind which there is something new: it comes after new answers.

Before them, two questions that lead to each other would go on for ever.
"""
WEAK: Final = 0.3
"""The least resemblance of an enemy that a text may mean."""
_ENDS: Final = re.compile(r"\b(good ?bye|fare ?well)\b", re.IGNORECASE)
"""Words of an answer that ends a talk, often its last ones."""
_DECLINES: Final = re.compile(
    r"^\s*(no|not(?! (?:unless|until|if|only|just)\b)|never|nevermind|nothing|i'm not|i am not|nay"
    r"|cancel|maybe|i don't|i do not|i can't|leave me|i'll pass|i have to go|i must go"
    r"|i'd rather not)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text in small letters, each in the singular."""
    found = _WORD.findall(text.casefold().replace("\u2019", "'"))
    return tuple(_singular(one.removesuffix("'s").strip("'")) for one in found)


def _singular(word: str) -> str:
    """Return a word in the singular; "northern Qeynos" is North Qeynos."""
    if word in _COMPASS:
        return _COMPASS[word]
    for ending, single in _PLURALS:
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word.removesuffix(ending) + single
    if word.endswith("s") and not word.endswith(_KEEPS_S) and len(word) > LEAST_NAME - 1:
        return word[:-1]
    return word


@lru_cache(maxsize=1024)
def _first_names(text: str) -> frozenset[str]:
    """Return the words of a text that only begin names: of "Squire Moorford" the first.

    So does "soldier" in "the soldier Homrie". Others have the same title or the same first name.
    """
    names = [words_of(one[0]) for one in _FULL_NAME.finditer(text)]
    rest = words_of(_FULL_NAME.sub(" ", text))
    first = {word for words in names for word in words[:-1]}
    titles = {word for one in _TITLED.findall(text) for word in words_of(one)}
    titles = {one for one in titles if words_of(text).count(one) == 1}
    first.difference_update(rest, (words[-1] for words in names if words))
    return frozenset(first | titles)


def fit(name: str, text: str) -> float:
    """Return how well a name fits a text: 0 not at all, 1 with every word.

    The name of a kind ("a giant spider") fits by its last word, the name of a person ("Garven
    Tralk") or a technical name ("to_qey_citizenship_trial") by any word. A person is not meant by a
    title or a first name alone if the text goes on with another name.
    """
    wanted = [one for one in words_of(name) if one not in _ARTICLES]
    if not wanted:
        return 0.0
    have = set(words_of(text))
    have |= {_MEANS[one] for one in have if one in _MEANS}
    is_person = name[:1].isupper() or TECHNICAL in name
    if is_person:
        # "Banker Vertbridge" is at the bank.
        have |= {f"{one}er" for one in have}
    hits = [one for one in wanted if one in have]
    if not hits:
        return 0.0
    if is_person and len(hits) < len(wanted) and _first_names(text).issuperset(hits):
        return min(WEAK, len(hits) / len(wanted))
    if is_person and any(len(one) >= LEAST_NAME for one in hits):
        return max(GOOD, len(hits) / len(wanted))
    return len(hits) / len(wanted) if wanted[-1] in have else 0.0


def resemblance(name: str, text: str) -> float:
    """Return which part of a name's words a text has: a weak sign if no name fits better.

    "I need to destroy 3 war statues." may mean "a goblin war totem".
    """
    wanted = [one for one in words_of(name) if one not in _ARTICLES]
    have = {one for one in words_of(text) if len(one) >= LEAST_NAME - 1}
    return sum(one in have for one in wanted) / len(wanted) if wanted else 0.0


def sides_of(text: str) -> frozenset[tuple[int, int]]:
    """Return the sides of the compass that a text names, as steps along x and z.

    "Near the two southern guard towers" is in the south; "in North Qeynos" is a name.
    """
    words = [one for one in re.findall(r"[A-Za-z]+", text) if one.islower()]
    return frozenset(_SIDES[side] for one in words if (side := _COMPASS.get(one, one)) in _SIDES)


def is_peaceful(text: str) -> bool:
    """Return whether a task is to talk to somebody or to go somewhere, and not to fight."""
    words = {*words_of(text)}
    return bool(words & _CALM) and not words & _KILLS and not is_leading(text)


def is_hunt(text: str) -> bool:
    """Return whether a task is to kill what lives."""
    return not _HUNTS.isdisjoint(words_of(text))


def is_crafting(text: str) -> bool:
    """Return whether a task is to make something."""
    return not _CRAFTS.isdisjoint(words_of(text))


def is_gathering(text: str) -> bool:
    """Return whether a task may be to harvest something."""
    return not _GATHERS.isdisjoint(words_of(text))


def is_visit(text: str) -> bool:
    """Return whether a task may be to go to a place: "I need to find Zipiff." is about somebody."""
    if _SOMEBODY.search(text) is not None:
        return False
    return not _VISITS.isdisjoint(words_of(text)) or _GOING.search(text) is not None


def names_somebody(text: str) -> bool:
    """Return whether a task is to talk to somebody, to go somewhere, or to find one by name."""
    return is_peaceful(text) or _SOMEBODY.search(text) is not None


def has_full_name(text: str) -> bool:
    """Return whether a text has a name of several words: "Grum Zoomly", "Darkblade Scouts"."""
    return _FULL_NAME.search(text) is not None


def names_person(text: str) -> bool:
    """Return whether a task is about somebody with a full name, and no hunt.

    Who is to locate "the grate to the Down Below" looks for a place.
    """
    if is_hunt(text):
        return False
    is_about_place = is_visit(text)
    return any(
        not is_about_place or not text[: one.start()].endswith(_ARTICLE)
        for one in _FULL_NAME.finditer(text)
    )


def is_placing(text: str) -> bool:
    """Return whether a task is to place a thing."""
    return _PLACES.search(text) is not None


def landmarks(text: str) -> frozenset[str]:
    """Return the words of a text for things that something is near: the fog of "near the fog"."""
    return frozenset(word for one in _NEAR.findall(text) for word in words_of(one))


def is_leading(text: str) -> bool:
    """Return whether a task is to let enemies follow it to somebody."""
    return _LEADING.search(text) is not None


def may_be_way(name: str) -> bool:
    """Return whether the name of a thing sounds as if it led to another zone."""
    return not _WAYS.isdisjoint(re.split(r"[^a-z]+", name.casefold()))


def may_have_choices(name: str) -> bool:
    """Return whether the name of a thing sounds as if it led to several zones."""
    return not _HUBS.isdisjoint(words_of(name.replace(TECHNICAL, " ")))


def is_sign(name: str) -> bool:
    """Return whether a thing has the name of a way to one zone.

    "zone_to_qey_north" leads to North Qeynos, "Scale Yard Zone" to Scale Yard.
    """
    words = re.split(r"[^a-z]+", name.casefold())
    return {"zone", "to"} <= set(words) or (len(words) > 1 and words[-1] == "zone")


def is_named_way(name: str) -> bool:
    """Return whether a thing's name says to which zone it leads."""
    return is_sign(name) or _TO.match(name) is not None


def leads_to(name: str, text: str) -> bool:
    """Return whether a text has all words of the name of a way, which may be shortened.

    "zone_to_qey_north" leads to North Qeynos.
    """
    have = words_of(text)
    wanted = [one for one in words_of(name.replace(TECHNICAL, " ")) if one not in _WAYS]
    return any(len(one) >= LEAST_NAME for one in wanted) and all(
        one in have or (len(one) >= SHORTENED and any(_shortens(one, word) for word in have))
        for one in wanted
    )


def names_part_of(sign: str, zone: str) -> bool:
    """Return whether a sign in a zone names the city of that zone, maybe in a shortened form.

    "zone_to_fprt_west_tunnel" in East Freeport leads to another part of Freeport.
    """
    parts = [one for one in words_of(sign.replace(TECHNICAL, " ")) if one not in _WAYS]
    long = [one for one in words_of(zone) if len(one) > LEAST_NAME]
    return any(len(part) >= SHORTENED and _shortens(part, one) for part in parts for one in long)


def _shortens(short: str, word: str) -> bool:
    """Return whether a word may stand for a longer one: "qey" for qeynos, "fprt" for freeport."""
    if word.startswith(short):
        return True
    left = iter(word)
    return short[0] == word[0] and _VOWELS.isdisjoint(short) and all(one in left for one in short)


def is_decline(choice: str) -> bool:
    """Return whether a choice says no, or ends a talk."""
    return _DECLINES.match(choice) is not None or _ENDS.search(choice) is not None


def has_word(text: str, words: Sequence[str]) -> bool:
    """Return whether a text has one of some words, in any case of letters."""
    folded = text.casefold()
    return any(re.search(rf"\b{re.escape(one.casefold())}\b", folded) for one in words)


class DialogChoices:
    """Which answers of talks and windows were taken, and which one comes next.

    Those with a preferred word come first, then those that were never taken, then those behind
    which a talk goes on with such an answer, then those that were taken least, in their order.
    Those that decline are last. So a talk that comes again and again is seen whole.
    """

    def __init__(self, preferences: Sequence[str], refused: Sequence[str]) -> None:
        self._preferred = preferences
        self._refused = refused
        self._taken: dict[tuple[str, str], int] = {}
        self._offered: dict[str, tuple[str, ...]] = {}
        """The answers of each question of a talk."""
        self._leads: dict[tuple[str, str], str] = {}
        """The question that has followed an answer."""
        self._last: tuple[str, str] | None = None
        self._first = ""
        """The question with which the last talk has begun."""

    @property
    def is_unfinished(self) -> bool:
        """Whether the last talk has answers that were never taken."""
        return self._has_new(self._first, {self._first})

    @property
    def may_go_on(self) -> bool:
        """Whether something may follow the last answer: it was new, or something has followed it.

        Nothing is expected of an answer that declines.
        """
        if self._last is None or is_decline(self._last[1]):
            return False
        return self._taken[self._last] == 1 or self._last in self._leads

    def choose(
        self, question: str, choices: Sequence[str], *, may_leave: bool = True, wanted: str = "",
        follows: bool = False,
    ) -> int:  # fmt: skip
        """Return the place of the answer to a question, and count it.

        Without `may_leave` a question that asks whether the player wants to leave is declined.
        `wanted` is taken if it is among the choices. A question that `follows` has come with the
        last answer.
        """
        stays = not may_leave and has_word(question, LEAVING)
        if follows and self._last is not None:
            self._leads[self._last] = question
        else:
            self._first = question
        self._offered[question] = tuple(choices)

        def rank(at: int) -> tuple[float, int]:
            choice = choices[at]
            count = float(self._taken.get((question, choice), 0))
            if count and self._goes_on((question, choice), {question}):
                count = GOES_ON
            if stays:
                count += 0.0 if is_decline(choice) else 50.0
            elif is_decline(choice):
                count += 1.5
            elif has_word(choice, self._preferred):
                count -= 1.5
            if has_word(choice, self._refused):
                count += 10.0
            if wanted and choice.strip() == wanted.strip():
                count -= 1000.0
            return count, at

        best = min(range(len(choices)), key=rank)
        key = self._last = question, choices[best]
        self._taken[key] = self._taken.get(key, 0) + 1
        return best

    def _goes_on(self, answer: tuple[str, str], seen: set[str]) -> bool:
        """Return whether a talk has an answer behind another one that was never taken."""
        question = self._leads.get(answer)
        if question is None or question in seen:
            return False
        seen.add(question)
        return self._has_new(question, seen)

    def _has_new(self, question: str, seen: set[str]) -> bool:
        """Return whether a question has an answer that was never taken, or that leads to one."""
        return any(
            (question, one) not in self._taken or self._goes_on((question, one), seen)
            for one in self._offered.get(question, ())
            if not is_decline(one) and not has_word(one, self._refused)
        )
