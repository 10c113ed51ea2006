"""Sums of bonuses, and sheets that are as before when they end."""

from hypothesis import given
from hypothesis import strategies as st

from emu.spells.kinds import SpellKind
from emu.world.actors.bonus_types import FIELDS
from emu.world.actors.sheet import POOLS, FieldKind, known_fields
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.spells.bonuses import apply, counts_for, is_better
from emu.world.spells.living import SpellBonus
from emu.world_stream.movement import Position

SUMS = st.dictionaries(
    st.sampled_from([*FIELDS, 607, 620]),
    st.floats(-500, 500, allow_nan=False).map(lambda one: round(one, 2)), max_size=6,
)  # fmt: skip


def creature(health: int = 500) -> Spawn:
    spawn = Spawn(1, SpawnKind.NPC, "a rat", Position(0, 0, 0))
    spawn.sheet.health.fill(health)
    return spawn


def values(spawn: Spawn) -> list[object]:
    sheet, names = spawn.sheet, {name for rows in FIELDS.values() for name, _ in rows}
    found: list[object] = [
        sheet.get(name, known_fields()[name].kind) for name in sorted(names) if name not in POOLS
    ]
    return [*found, sheet.health.most, sheet.power.most]


@given(st.lists(SUMS, max_size=5))
def test_nothing_stays_behind(steps: list[dict[int, float]]) -> None:
    spawn = creature()
    spawn.sheet.set("heat", FieldKind.UNSIGNED, 20)
    before = values(spawn)
    for sums in steps:
        apply(spawn.sheet, sums)
    apply(spawn.sheet, {})
    assert values(spawn) == before


def test_what_others_change_meanwhile_stays() -> None:
    spawn = creature()
    apply(spawn.sheet, {0: 12.5, 201: -30.0})
    assert spawn.sheet.attribute("str") == 32
    spawn.sheet.set("str", FieldKind.FRACTION, spawn.sheet.attribute("str") + 10.5)
    apply(spawn.sheet, {})
    assert spawn.sheet.get("str", FieldKind.FRACTION) == 30.0


def test_health_grows_by_points_and_percent() -> None:
    spawn = creature(200)
    apply(spawn.sheet, {606: 50.0, 607: 10.0})
    assert (spawn.sheet.health.most, spawn.sheet.health.current) == (270, 270)
    apply(spawn.sheet, {607: 20.0})
    assert spawn.sheet.health.most == 240


def test_some_bonuses_are_for_classes_or_races() -> None:
    assert counts_for(SpellBonus(5.0), (3,), (9,))
    assert counts_for(SpellBonus(5.0, (3, 4)), (3,), ())
    assert not counts_for(SpellBonus(5.0, (4,)), (3,), (4,))
    assert counts_for(SpellBonus(5.0, (120,)), (3,), (120,))


def test_the_stronger_spell_of_a_timer() -> None:
    weak, strong = (SpellKind(one, "x", min_class_skill=one) for one in (1, 55))
    assert is_better(strong, weak)
    assert not is_better(weak, strong)
    assert is_better(weak, SpellKind(3, "x"))
