from __future__ import annotations

from emu.link.batches import ZoneItem
from emu.world.registration.registry import ZoneReport

ZONES = [ZoneItem(number, f"zone{number}", "") for number in range(45)]


def test_each_zone_is_sent_once_a_link_in_batches_of_at_most_twenty() -> None:
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
