"""Messages about casts: to the caster, and to all who see it.

Source: docs/protocol/world/fights.md#casts.
"""

from __future__ import annotations

import tomllib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Final

from emu.dialects import Dialect
from emu.dialects.dialect import wire_name, wire_texts
from emu.errors import UnknownStruct
from emu.files import data_file
from emu.spells.kinds import SpellKind
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from emu.world.visibility.viewer import Viewer
from emu.world.zones.zone import Zone

HEARD: Final = 50.0
"""How far the texts and the amounts of a spell reach."""
MOST_SHOWN: Final = 30
"""Targets of one cast that clients are sent."""
_MARK: Final = 0xF1A5E200
"""Stands where a viewer's own numbers come: the caster's, then those of the targets."""
UNNUMBERED: Final = "unnumbered"
"""In place of the field with a target's number: clients are sent the number 0."""
HEAL, CRITICAL_HEAL, ABSORBED, POWER, CRITICAL_POWER = 0, 1, 2, 8, 9
"""What a message of a heal is about."""
_LARGEST: Final = 0xFFFF
_LARGEST_THREAT: Final = 0xFFFFFFFF
LONGEST_NAME: Final = 255
"""Bytes of the name of a spell."""


@cache
def _codes() -> Mapping[str, tuple[list[int], list[int]]]:
    table = tomllib.loads(data_file("world", "spell_errors.toml").read_text(encoding="utf-8"))
    return {
        name: ([one[0] for one in steps], [one[1] for one in steps])
        for name, steps in table.items()
    }


def error_code(name: str, version: int) -> int:
    """Return the number of an error for a client version; 0 if it has none."""
    versions, numbers = _codes()[name]
    return numbers[bisect_right(versions, version) - 1]


def refuse(player: Player, name: str) -> None:
    """Show a caster why it cannot cast; an empty name says nothing."""
    if name:
        show_error(player, error_code(name, player.client.version))


def show_error(player: Player, code: int) -> None:
    """Show a caster an error by the number of its client's version."""
    if code > 0:
        player.client.send("WS_DisplaySpellFailed", {"error_code": code & 0xFF})


# -- who sees it --------------------------------------------------------------------------------


def _mark(place: int) -> int:
    return _MARK + place


@lru_cache(maxsize=2048)
def _encoded(dialect: Dialect, struct: str, values: tuple[tuple[str, float | str], ...],
             targets: int, inner: str) -> tuple[str, bytes]:  # fmt: skip
    """Return the command and the payload of a message with marks for caster and targets."""
    filled: dict[str, object] = dict(values)
    filled |= {"spawn_id": _mark(0), "caster": _mark(0), "target": _mark(1)}
    filled |= {
        "num_targets": targets,
        "target_array": [{inner: _mark(1 + at)} for at in range(targets)],
    }
    layout = dialect.layout(struct)
    return str(layout.definition.opcode_type), dialect.encode_known(struct, wire_texts(filled))


def _show(
    zone: Zone, caster: Spawn, targets: Sequence[Spawn], struct: str, *,
    inner: str = "target", reach: float = 0.0, **values: float | str,
) -> None:  # fmt: skip
    """Send a message to all who see the caster, with their own numbers of all in it."""
    for viewer in zone.observers(caster):
        if reach and viewer.spawn.position.distance_to(caster.position) > reach:
            continue
        send_to(viewer, caster, targets, struct, inner=inner, may_wait=False, **values)


def send_to(
    viewer: Viewer, caster: Spawn, targets: Sequence[Spawn], struct: str, *,
    inner: str = "target", may_wait: bool = False, **values: float | str,
) -> bool:  # fmt: skip
    """Send a message to one viewer; return False if it does not see the caster.

    One that `may_wait` leaves with the next message, a moment later at most.
    """
    own = viewer.interest.index_of(caster)
    if own is None:
        return False
    seen = [index for one in targets[:MOST_SHOWN]
            if (index := viewer.interest.index_of(one)) is not None]  # fmt: skip
    if inner == "" and not seen:
        return False
    try:
        name, payload = _encoded(
            viewer.form.dialect, struct, tuple(values.items()), len(seen), inner or "target"
        )
    except UnknownStruct:
        return False
    for place, index in enumerate((own, *seen)):
        payload = payload.replace(_mark(place).to_bytes(4, "little"), index.to_bytes(4, "little"))
    viewer.link.command(name, payload, may_wait=may_wait)
    return True


def show_cast(
    zone: Zone, caster: Spawn, targets: Sequence[Spawn], kind: SpellKind, seconds: float
) -> None:
    """Show that somebody begins a cast."""
    _show(
        zone, caster, targets, "WS_HearSpellCast", spell_id=kind.id, visual=kind.visual & _LARGEST,
        seconds=seconds, level=1, tier=1,
    )  # fmt: skip


def show_interrupt(zone: Zone, caster: Spawn, targets: Sequence[Spawn], spell_id: int) -> None:
    """Show that a cast was interrupted."""
    _show(zone, caster, targets, "WS_Interrupt", inner="target_id", spell_id=spell_id)


def show_fizzle(zone: Zone, caster: Spawn, targets: Sequence[Spawn], spell_id: int) -> None:
    """Show that a cast has failed: first a cast of no spell, then the spell (recorded).

    The spell's message has the number 0 for each target (recorded for four versions).
    """
    _show(
        zone, caster, targets, "WS_HearSpellCast",
        spell_id=0, visual=0, seconds=0.0, level=0, tier=1,
    )  # fmt: skip
    _show(zone, caster, targets, "WS_SpellFizzle", inner=UNNUMBERED, spell_id=spell_id)


def show_heal(
    zone: Zone, sides: tuple[Spawn, Spawn], name: str, amount: int, kind: int = HEAL
) -> None:
    """Show that a target got health or power, or that a ward has kept damage off.

    `sides` are the caster and the target. To others it may come a moment later, as blows do: in a
    battle each would get a datagram for each heal.
    """
    caster, target = sides
    for viewer in zone.observers(target):
        if viewer.spawn.position.distance_to(target.position) <= HEARD:
            send_to(
                viewer, caster, (target,), "WS_HearHeal", inner="",
                may_wait=viewer.spawn not in sides,
                heal_amt=min(amount, _LARGEST), spellname=name, type=kind, unknown2=1,
            )  # fmt: skip


def show_threat(zone: Zone, sides: tuple[Spawn, Spawn], name: str, amount: int) -> None:
    """Show newer clients that a spell has made a creature hate its caster."""
    caster, target = sides
    for viewer in zone.observers(target):
        if viewer.spawn.position.distance_to(target.position) <= HEARD:
            send_to(
                viewer, caster, (target,), "WS_HearThreatCmd", inner="",
                spell_name=wire_name(name)[:LONGEST_NAME],
                threat_amount=max(0, min(amount, _LARGEST_THREAT)),
            )  # fmt: skip


# -- the caster's own bar -----------------------------------------------------------------------


def begin_bar(player: Player, name: str, seconds: float) -> None:
    """Let a caster's client show the bar of a cast."""
    player.client.send("WS_StartCastSpell", {"cast_time": seconds, "spell_name": name})


def end_bar(player: Player, name: str) -> None:
    """Let a caster's client remove the bar of a cast."""
    player.client.send("WS_FinishCastSpell", {"spell_name": name})


def filled(text: str, caster: Spawn, target: Spawn) -> str:
    """Return a message of a spell with the names in it."""
    for mark, name in (
        ("%t", target.name), ("%T", target.name), ("%c", caster.name), ("%C", caster.name),
        ("%a", caster.name),
    ):  # fmt: skip
        text = text.replace(mark, name)
    return text
