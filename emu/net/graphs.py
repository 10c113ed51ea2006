"""Samples the server's metrics for the graphs of the operators' page."""

from __future__ import annotations

from collections.abc import Callable

from emu.admin.graphs import EVERY, History, Sampler
from emu.metrics import MetricRegistry
from emu.net.machine import resident_bytes
from emu.net.scheduler import DelayedCall, Scheduler


class GraphRecorder:
    """Takes a sample every ten seconds. Call `start`, then `stop`."""

    def __init__(
        self, measures: MetricRegistry, scheduler: Scheduler, processor: Callable[[], float]
    ) -> None:
        """`processor` returns the seconds of the processor that this process has used."""
        self.history = History()
        self._measures = measures
        self._scheduler = scheduler
        self._processor = processor
        self._sampler = Sampler()
        self._turn: DelayedCall | None = None

    def start(self) -> None:
        """Take the first sample now, which later rates count from."""
        self._take()
        self._turn = self._scheduler.every(EVERY, self._take)

    def stop(self) -> None:
        """Take no more samples."""
        if self._turn is not None:
            self._turn.cancel()

    def _take(self) -> None:
        values = self._sampler.sample(
            self._measures.read_samples(),
            self._processor(),
            resident_bytes(),
            self._scheduler.now(),
        )
        self.history.add_sample(values, self._scheduler.moment())
