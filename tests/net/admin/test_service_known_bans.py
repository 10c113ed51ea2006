from emu.errors import StoreError
from emu.net.admin.service import REREAD, KnownBans
from emu.store.accounts import BannedAddress
from tests.support.times import ManualClock


class Rows:
    def __init__(self) -> None:
        self.rows: list[BannedAddress] = []
        self.looks = 0
        self.broken = False

    async def read(self) -> list[BannedAddress]:
        self.looks += 1
        if self.broken:
            raise StoreError("locked")
        return self.rows


def test_bans_are_read_again_after_a_while_and_kept_when_that_fails() -> None:
    rows, clock = Rows(), ManualClock(100.0)
    bans = KnownBans(rows.read, clock)
    assert not bans.covers("192.0.2.7")
    rows.rows = [BannedAddress("192.0.2")]
    assert not bans.covers("192.0.2.7")
    assert rows.looks == 1
    clock.seconds += REREAD
    assert bans.covers("192.0.2.7")
    assert not bans.covers("192.0.3.7")
    rows.broken = True
    clock.seconds += REREAD
    assert bans.covers("192.0.2.7")
    assert rows.looks == 3
