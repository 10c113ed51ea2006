from __future__ import annotations

from emu.link.batches import EquipmentItem, ZoneItem
from emu.world.registration.batches import EquipmentReport, ZoneReport

ZONES = [ZoneItem(number, f"zone{number}", "") for number in range(45)]


def test_each_zone_is_told_once_a_link_in_batches_of_at_most_twenty() -> None:
    report = ZoneReport(lambda: ZONES)
    sizes = []
    seen = []
    while (batch := report.next_batch(50)) is not None:
        sizes.append(len(batch.zones))
        seen += batch.zones
    assert sizes == [20, 20, 5]
    assert seen == ZONES
    report.restart()
    first = report.next_batch(3)
    assert first is not None
    assert len(first.zones) == 3


def test_what_a_slot_shows_last_is_told() -> None:
    report = EquipmentReport()
    report.worn(5, 0, 100, (1, 2, 3))
    report.worn(5, 19, 7, (0, 0, 0))
    report.worn(5, 9, 8, (0, 0, 0))
    report.worn(5, 0, 200, (4, 5, 6))
    batch = report.next_batch(100)
    assert batch is not None
    assert batch.items == (
        EquipmentItem(2, 5, 7, (0, 0, 0), (0, 0, 0), 19),
        EquipmentItem(3, 5, 200, (4, 5, 6), (4, 5, 6), 0),
    )
    assert report.next_batch(100) is None


def test_equipment_goes_out_in_batches_of_at_most_one_hundred() -> None:
    report = EquipmentReport()
    for character in range(150):
        report.worn(character, 0, 1, (0, 0, 0))
    first, second = report.next_batch(500), report.next_batch(30)
    assert first is not None
    assert second is not None
    assert (len(first.items), len(second.items), len(report)) == (100, 30, 20)
