"""The distance to signs and widgets that clients draw at a part of the zone's model."""

import pytest

from emu.world.actors.reach import distance_of
from emu.world.actors.spawn import Footer, Spawn, SpawnKind, SpawnTemplate
from emu.world_stream.movement import Position

PART = Footer(2469005060, -123.5, 3.8, 49.7, with_place=False)
"""The sign to North Freeport of the Thieves' Way in the community's content."""


@pytest.mark.parametrize(
    ("footer", "away"),
    [
        (PART, 1.0), (PART._replace(with_place=True), 11.3), (PART._replace(id=0), 11.3),
        (None, 11.3),
    ],
)  # fmt: skip
def test_the_part_of_the_model_counts_where_clients_are_sent_no_place(
    footer: Footer | None, away: float
) -> None:
    look = SpawnTemplate(SpawnKind.SIGN, "zone_to_fprt_north", footer=footer)
    sign = Spawn.of(look, 1, Position(-123.4, 6.1, 61.0))
    assert distance_of(sign, Position(-122.5, 3.8, 49.7)) == pytest.approx(away, abs=0.1)


def test_the_place_where_it_was_put_counts_as_well() -> None:
    look = SpawnTemplate(SpawnKind.SIGN, "zone_to_fprt_north", footer=PART)
    sign = Spawn.of(look, 1, Position(-123.4, 6.1, 61.0))
    assert distance_of(sign, Position(-123.4, 6.1, 60.0)) == pytest.approx(1.0)
