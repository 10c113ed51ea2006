"""The command that saves a recording, and the recordings of players' reports."""

from __future__ import annotations

from itertools import count

from emu.errors import CommandError
from emu.times import Moment, Monotonic
from emu.world.recording.recorder import Recorder
from emu.world.recording.recording import Recording
from emu.world.rules import RecordRules
from tests.support.world.worlds import WorldHarness


class Kept:
    """A world that is recorded, and the recordings that it has written."""

    def __init__(self, *, is_on: bool = True) -> None:
        seeds = (f"seed {number}".encode() for number in count())
        record = Recorder(RecordRules(is_on), _Clock(self), seeds.__next__)
        self.harness = WorldHarness(record=record, keep_recording=self._keep)
        self.harness.service = record.service(self.harness.service)  # type: ignore[assignment]
        self.harness.turn = record.turns(self.harness.turn)
        self.recordings: list[Recording] = []
        self.is_full = False

    async def _keep(self, recording: Recording) -> str:
        if self.is_full:
            raise CommandError("the disk is full")
        self.recordings.append(recording)
        return f"file {len(self.recordings)}"


class _Clock:
    """The clock of a harness that is not made yet."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept

    def now(self) -> Monotonic:
        return self._kept.harness.now

    def moment(self) -> Moment:
        return self._kept.harness.moment


def test_an_operator_saves_a_recording() -> None:
    kept = Kept()
    kept.harness.stand(5, name="Aldana")
    for name in ("325", "IsleRefuge1", "'isle of refuge'"):
        reply = kept.harness.console(f"zone record {name}")
        assert reply.ok, reply
        assert reply.lines == (f"recorded in file {len(kept.recordings)}",)
    assert kept.recordings[0].header.zone_id == 325
    assert not kept.recordings[0].header.is_private
    kept.harness.console("zone record 325 on")
    assert kept.recordings[-1].header.is_private


def test_a_player_may_not_save_one() -> None:
    kept = Kept()
    player, master = kept.harness.stand(5), kept.harness.stand(6, admin_status=100)
    assert player.types("zone record 325") != ["recorded in file 1"]
    assert master.types("zone record 325") == ["recorded in file 1"]


def test_the_command_says_why_there_is_no_recording() -> None:
    kept = Kept()
    assert kept.harness.console("zone record 325").lines == ("Isle of Refuge does not run here",)
    [line] = kept.harness.console("zone record nowhere").lines
    assert line == "there is no zone nowhere; zones lists them"
    off = Kept(is_on=False)
    off.harness.stand(5)
    [line] = off.harness.console("zone record 325").lines
    assert line == "zones are not recorded; set world.record = true"


def test_a_report_of_a_fault_saves_one() -> None:
    kept = Kept()
    one = kept.harness.stand(5, name="Aldana")
    one.types("bug the wolf flies")
    [recording] = kept.recordings
    assert recording.header.reason.startswith("bug ")
    assert not recording.header.is_private
    kept.harness.stand(6).types("petition I am stuck")
    assert len(kept.recordings) == 1


def test_a_report_is_stored_although_its_recording_cannot_be_written() -> None:
    kept = Kept()
    one = kept.harness.stand(5)
    kept.is_full = True
    assert one.types("bug the wolf flies")[0].startswith("Thank you.")
    assert kept.harness.faults.drops["recordings not written"] == 1
    assert not Kept(is_on=False).recordings


def test_reports_save_nothing_if_zones_are_not_recorded() -> None:
    kept = Kept(is_on=False)
    assert kept.harness.stand(5).types("bug the wolf flies")[0].startswith("Thank you.")
    assert not kept.recordings
