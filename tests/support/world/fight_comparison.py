"""Compares what the players of a recorded fight were sent with what a replay has sent them.

Messages become lines of text. They are compared mark by mark: a mark is an act of the recording.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tests.support.world.fight_recordings import WINDOW
from tests.support.world.fight_replay import Replay, Said

SPELL_MESSAGES: Final = frozenset((
    "OP_EqSpellCastStartCmd", "OP_EqSpellCastEndCmd", "OP_EqHearSpellCastCmd",
    "OP_EqHearSpellInterruptCmd", "OP_EqHearSpellFizzleCmd", "OP_EqDisplaySpellFailCmd",
    "OP_EqHearCombatCmd", "OP_EqHearHealCmd", "OP_UpdateSpellBookMsg", "OP_EqDisplayTextCmd",
    "OP_EqHearDeathCmd", "OP_EqShowDeathWindowCmd", "OP_UpdateClientPredFlagsMsg",
    "OP_ChangeServerControlFlagMsg", "OP_EqResurrectedCmd", "OP_EncounterBrokenMsg",
    "OP_UpdateOpportunityMsg", "OP_EqUpdateTargetCmd", "OP_LevelChangedMsg",
    "OP_EqChoiceWindowCmd", "OP_EqExamineInfoCmd", "OP_SpellGainedMsg", "OP_AttackAllowed",
))  # fmt: skip
BY_CHANCE: Final = frozenset((
    "damage", "heal_amt", "result_type", "threat_amount", "distance", "time_left",
))  # fmt: skip
"""Fields whose values chance decides, or the place at which a player happens to die."""
_NUMBER: Final = re.compile(r"(?<=You gain )\d+")
_ZONE: Final = re.compile(r"Queen's Colony|Isle of Refuge")
"""The replay stands in one zone."""
_CHANCES: Final = ("encounter will no longer", "ability to cast!")
WINDOWS: Final = "OP_EqExamineInfoCmd"
OWN: Final = ("spawn_id", "caster", "attacker")
USABLE: Final = 235
MOVED: Final = re.compile(
    r"HearDeathCmd|HearSpellCastCmd|HearSpellInterruptCmd|text 34|book: {"
    r"|ShowDeathWindow|UpdateClientPred"
)
"""Lines that may stand at another place of their part: a replay knows a death after its blow."""
UNKNOWN: Final = re.compile(r"a spell not learned|.* not known$")
"""Marks in which only windows are compared: EQ2Emulator casts spells that are not in the book."""
APART: Final = re.compile(r"a spell not learned")
"""Those whose casts let the whole rest of the scene differ."""
UNCOMPARED: Final = re.compile(
    r"follow the zone change|walk up to .*|attacked: .*|run away .*|stands .* away"
    r"|attack a toxic .*"
)
"""Marks of entries, which other tests replay, and of a fight against creatures that cast."""


class Compared(NamedTuple):
    """What a client was sent after one mark, in comparable lines."""

    title: str
    recorded: list[str]
    ours: list[str]


def compared(replay: Replay, client: str) -> Iterator[Compared]:
    """Yield what a client was sent, mark by mark."""
    lines = _Lines(replay, client)
    is_apart = False
    for part in replay.parts:
        if UNCOMPARED.fullmatch(part.title):
            continue
        is_apart = is_apart or bool(APART.fullmatch(part.title))
        has_windows_only = is_apart or bool(UNKNOWN.fullmatch(part.title))
        yield Compared(
            part.title,
            *(
                list(lines.of(side, said.get(client, []), has_windows_only=has_windows_only))
                for side, said in (("recorded", part.recorded), ("ours", part.ours))
            ),
        )


def differing(part: Compared) -> tuple[list[str], int]:
    """Return the lines that differ after one mark, and how many are equal."""
    lines = [line for line in difflib.ndiff(part.recorded, part.ours) if line[0] != "?"]
    for line in [one for one in lines if one.startswith("- ") and MOVED.match(one[2:])]:
        if "+ " + line[2:] in lines:
            lines.remove("+ " + line[2:])
            lines[lines.index(line)] = "  " + line[2:]
    different = [line for line in lines if not line.startswith("  ")]
    return different, len(lines) - len(different)


class _Lines:
    """The lines of one client: of the recording, and of the replay."""

    def __init__(self, replay: Replay, client: str) -> None:
        self._replay = replay
        self._players = {one.seen.name for one in replay.clients.values()}
        self._casts = replay.casts[replay.clients[client].seen.name]
        self._ended: dict[str, set[str]] = {"recorded": set(), "ours": set()}

    def of(self, side: str, said: list[Said], *, has_windows_only: bool) -> Iterator[str]:
        ended = self._ended[side]
        for name, fields in said:
            if name not in SPELL_MESSAGES or not fields:
                continue
            if not _concerns(name, fields, self._players):
                continue
            if name == "OP_EqSpellCastStartCmd":
                ended.discard(fields["spell_name"])
                self._casts.add(fields["spell_name"])
            elif name == "OP_EqSpellCastEndCmd":
                # EQ2Emulator sends it twice.
                if fields["spell_name"] in ended:
                    continue
                ended.add(fields["spell_name"])
            line = _line(self._replay, name, fields, self._casts)
            if line and (name == WINDOWS or not has_windows_only):
                yield line


def _concerns(name: str, fields: dict[str, Any], players: set[str]) -> bool:
    """Return whether a message is about a player, or about nobody."""
    actor = next((fields[key] for key in OWN if key in fields), None)
    sides = {actor, fields.get("defender")} if name == "OP_EqHearDeathCmd" else {actor}
    return actor is None or bool(sides & players)


def _line(replay: Replay, name: str, fields: dict[str, Any], casts: set[str]) -> str:
    """Return a message as it is compared; an empty text for none."""
    if name == "OP_UpdateSpellBookMsg":
        return _book_line(replay, fields["book"])
    if name == "OP_EqDisplayTextCmd":
        text = _ZONE.sub("ZONE", _NUMBER.sub("#", fields["text"]))
        return f"text {fields['color']}: {text}" if _is_compared_text(fields, casts) else ""
    is_blow = name == "OP_EqHearCombatCmd" and not fields.get("spell_name")
    is_other_window = name == WINDOWS and WINDOW not in fields
    if is_blow or is_other_window:
        return ""
    return _ZONE.sub("ZONE", f"{name.removeprefix('OP_').removeprefix('Eq')} {_plain(fields)}")


def _plain(fields: Any) -> str:
    if isinstance(fields, dict):
        left_out = BY_CHANCE if "blow_type" not in fields else BY_CHANCE | {"damage_type"}
        kept = (f"{key}={_plain(one)}" for key, one in fields.items() if key not in left_out)
        return "(" + " ".join(kept) + ")"
    if isinstance(fields, list):
        return "[" + ", ".join(map(_plain, fields)) + "]"
    return str(fields)


def _book_line(replay: Replay, changed: dict[int, int]) -> str:
    """Return which of the spells that both books have are shown in another way."""
    known = {spell: one for spell, one in changed.items() if replay.is_compared(spell)}
    if len(known) > 3:
        return f"book: {sorted(set(known.values()))}"
    # When one can be cast again is compared by its cast.
    return f"book: {known}" if known and set(known.values()) != {USABLE} else ""


def _is_compared_text(fields: dict[str, Any], casts: set[str]) -> bool:
    """Return whether a text is compared: chance gives some, and EQ2Emulator sends some to all."""
    text = fields["text"]
    if text.startswith("You get better at") or any(one in text for one in _CHANCES):
        return False
    cast = re.match(r"You cast (.*) on ", text)
    return cast is None or cast[1] in casts
