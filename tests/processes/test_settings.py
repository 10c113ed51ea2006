from __future__ import annotations

import pytest

from emu.errors import StoreError
from emu.processes.bus import LocalBus
from emu.processes.settings import LOCKED, MOTD, NO, SOURCE, YES, SharedSettings
from emu.processes.tables import run_now
from tests.support.coroutines import finish


class Stored:
    """`SettingStore` in memory."""

    def __init__(self) -> None:
        self.rows: dict[str, str] = {}
        self.fails = False

    async def of_source(self, source: str) -> dict[str, str]:
        assert source == SOURCE
        if self.fails:
            raise StoreError("the disk is full")
        return dict(self.rows)

    async def put(self, source: str, name: str, value: str) -> bool:
        assert source == SOURCE
        if self.fails:
            raise StoreError("the disk is full")
        self.rows[name] = value
        return True


class Process:
    """A process that follows two settings."""

    def __init__(self, name: str, bus: LocalBus, store: Stored, locked: str = NO) -> None:
        self.applied: list[str] = []
        self.settings = SharedSettings(name, bus, store, run_now)
        self.settings.follow(LOCKED, locked, self.applied.append)
        self.settings.follow(MOTD, "Hail", self.applied.append)
        self.settings.load(store.rows)


@pytest.fixture
def bus() -> LocalBus:
    return LocalBus(pytest.fail)


def test_a_change_is_stored_and_applied_in_every_process(bus: LocalBus) -> None:
    store = Stored()
    here, there = Process("here", bus, store), Process("there", bus, store)
    finish(here.settings.change(LOCKED, YES))
    finish(there.settings.change(MOTD, "Grüße"))
    assert here.applied == there.applied == [YES, "Grüße"]
    late = Process("late", bus, store)
    assert sorted(late.applied) == ["Grüße", YES]


def test_a_lost_note_is_made_up_for_by_reading(bus: LocalBus) -> None:
    store = Stored()
    here, there = Process("here", LocalBus(pytest.fail), store), Process("there", bus, store)
    finish(here.settings.change(LOCKED, YES))
    assert there.applied == []
    finish(there.settings.refresh())
    finish(there.settings.refresh())
    assert there.applied == [YES]


def test_a_changed_configuration_replaces_what_was_stored_before(bus: LocalBus) -> None:
    store = Stored()
    here = Process("here", bus, store)
    finish(here.settings.change(LOCKED, YES))
    here.settings.configure(LOCKED, NO)
    assert here.applied == [YES], "the configuration has not changed"
    here.settings.configure(LOCKED, YES)
    here.settings.configure(LOCKED, NO)
    assert here.applied == [YES, NO]
    started_again = Process("here", LocalBus(pytest.fail), store, locked=YES)
    assert started_again.applied == [], "what was stored was decided under another configuration"


@pytest.mark.parametrize("stored", ["", "[", "[1]", "7", '["yes", "other"]'])
def test_what_cannot_be_read_is_as_configured(bus: LocalBus, stored: str) -> None:
    store = Stored()
    store.rows[LOCKED] = stored
    assert Process("here", bus, store).applied == []


def test_what_cannot_be_stored_is_not_applied(bus: LocalBus) -> None:
    store = Stored()
    here = Process("here", bus, store)
    store.fails = True
    with pytest.raises(StoreError):
        finish(here.settings.change(LOCKED, YES))
    finish(here.settings.refresh())
    assert here.applied == []


def test_without_a_store_settings_live_as_long_as_the_process() -> None:
    settings, applied = SharedSettings(), list[str]()
    settings.follow(MOTD, "", applied.append)
    finish(settings.change(MOTD, "Hail"))
    finish(settings.refresh())
    assert applied == ["Hail"]
