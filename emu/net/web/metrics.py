"""`/metrics`: the registry in the form that Prometheus reads, written by its own library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from twisted.web.server import Request

from emu.measures import Kind, Measures, Reading
from emu.measures.families import Buckets, Labels
from emu.net.web.answers import Answer, prepare

PREFIX: Final = "emu_"


class MeasuresCollector(Collector):
    """Reads a registry of ours whenever somebody scrapes."""

    def __init__(self, measures: Measures) -> None:
        self._measures = measures

    def collect(self) -> Iterable[Metric]:
        """Return every measure as a family of the library's; called by it."""
        return [family_of(reading) for reading in self._measures.read()]


def metrics_answer(measures: Measures) -> Answer:
    """Answer with all measures, in the form that the asker prefers.

    The library's own resource reads them in a thread, while they are counted in the reactor's.
    """
    registry = registry_of(measures)

    def answer(request: Request) -> bytes:
        written, content_type = choose_encoder(request.getHeader("accept") or "")
        prepare(request, content_type)
        return written(registry)

    return Answer(answer)


def registry_of(measures: Measures) -> CollectorRegistry:
    """Return a registry of the library's with our measures and those of the process."""
    registry = CollectorRegistry()
    registry.register(MeasuresCollector(measures))
    ProcessCollector(namespace=PREFIX.rstrip("_"), registry=registry)
    PlatformCollector(registry=registry)
    return registry


def family_of(reading: Reading) -> Metric:
    """Return one measure as a family of the library's."""
    name, about = PREFIX + reading.family.name, reading.family.about
    labels = list(reading.family.labels)
    if reading.kind is Kind.HISTOGRAM:
        return _histogram(HistogramMetricFamily(name, about, labels=labels), reading.values)
    kind = CounterMetricFamily if reading.kind is Kind.COUNTER else GaugeMetricFamily
    family = kind(name, about, labels=labels)
    for values, number in reading.values.items():
        if isinstance(number, int | float):
            family.add_metric(values, number)
    return family


def _histogram(family: HistogramMetricFamily, values: Mapping[Labels, float | Buckets]) -> Metric:
    for labels, buckets in values.items():
        if isinstance(buckets, Buckets):
            bounds = [
                (str(bound), count)
                for bound, count in zip(buckets.bounds, buckets.at_most, strict=True)
            ]
            bounds.append(("+Inf", buckets.count))
            family.add_metric(labels, bounds, buckets.sum)
    return family
