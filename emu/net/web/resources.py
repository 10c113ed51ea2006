"""Resources of the web endpoint: JSON, health, files, metrics.

The headers of every answer forbid pages to load anything from elsewhere and to be framed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request

from emu.metrics import Buckets, Labels, MetricRegistry, MetricType, Reading
from emu.net.scheduler import DelayedCall, Scheduler


class InterruptiblePauses:
    """Pauses of coroutines; `end` ends all of them, present and future."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._waiting: dict[Deferred[None], DelayedCall] = {}
        self._has_ended = False

    def __len__(self) -> int:
        return len(self._waiting)

    async def wait(self, seconds: float) -> None:
        """Wait for some seconds."""
        if self._has_ended:
            return
        waiting: Deferred[None] = Deferred()
        self._waiting[waiting] = self._scheduler.later(seconds, lambda: self._go_on(waiting))
        await waiting

    def end(self) -> None:
        """End all pauses."""
        self._has_ended = True
        # A copy: each pause that ends removes itself.
        for waiting, call in list(self._waiting.items()):
            call.cancel()
            self._go_on(waiting)

    def _go_on(self, waiting: Deferred[None]) -> None:
        del self._waiting[waiting]
        waiting.callback(None)


SECURITY: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self';"
    " img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self';"
    " frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    # Twisted names itself and its version here, which helps only those who look for its faults.
    "Server": "emu",
    # Most answers are for one user; `PublicResource` replaces this header.
    "Cache-Control": "no-store",
}
TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def prepare(request: Request, content_type: str, status: int = 200) -> None:
    """Set the status and headers of an answer."""
    request.setResponseCode(status)
    request.setHeader("Content-Type", content_type)
    for name, value in SECURITY.items():
        request.setHeader(name, value)


def unsupported(request: Request, methods: Iterable[bytes]) -> bytes:
    """Answer a request whose method the path does not support; return the body."""
    prepare(request, "text/plain; charset=utf-8", 405)
    request.setHeader("Allow", b", ".join(sorted(methods)))
    return b"this method is not taken here\n"


def ambiguous(request: Request) -> bytes:
    """Answer a request that does not name one host; return the body."""
    prepare(request, "text/plain; charset=utf-8", 400)
    return b"a request needs one Host header, the name of this server\n"


def misdirected(request: Request) -> bytes:
    """Answer a request for a name that is not this server's; return the body.

    Otherwise a foreign page could let its name point here and read the answers (DNS rebinding).
    """
    prepare(request, "text/plain; charset=utf-8", 403)
    return (
        b"this server has another name: use its IP address, or have whoever runs it add the name"
        b" to web.hosts\n"
    )


def json_body(request: Request, value: Any, status: int = 200) -> bytes:
    """Set the headers of a JSON answer and return its body."""
    prepare(request, "application/json", status)
    return json.dumps(value, separators=(",", ":")).encode()


class AnswerResource(Resource):
    """A path that a function answers at once: it sets the headers and returns the body."""

    isLeaf = True

    def __init__(self, answer: Callable[[Request], bytes]) -> None:
        super().__init__()
        self._answer = answer

    def render_GET(self, request: Request) -> bytes:
        """Answer; called by Twisted."""
        return self._answer(request)


def json_answer(ask: Callable[[], Any]) -> AnswerResource:
    """Answer with what `ask` returns, as JSON."""
    return AnswerResource(lambda request: json_body(request, ask()))


class LateAnswer(Resource):
    """A path that a coroutine function answers with JSON."""

    isLeaf = True

    def __init__(self, ask: Callable[[], Deferred[Any]]) -> None:
        super().__init__()
        self._ask = ask

    def render_GET(self, request: Request) -> int:
        """Answer later; called by Twisted."""
        gone: list[object] = []
        request.notifyFinish().addErrback(gone.append)

        def write(value: object) -> None:
            status = 200
            if isinstance(value, Failure):
                status, text = 503, "the database does not answer; try again"
                value = {"ok": False, "text": text}
            # Twisted raises when an answer is written to a lost connection.
            if not gone:
                request.write(json_body(request, value, status))
                request.finish()

        self._ask().addBoth(write)
        return NOT_DONE_YET


def health(missing: Callable[[], str]) -> AnswerResource:
    """Answer ``ok`` with 200, or what is missing with 503."""

    def answer(request: Request) -> bytes:
        lacking = missing()
        prepare(request, "text/plain; charset=utf-8", 503 if lacking else 200)
        return f"{lacking or 'ok'}\n".encode()

    return AnswerResource(answer)


def page_file(path: Path) -> AnswerResource:
    """Answer with a file of the page, which is read when the server starts."""
    content = path.read_bytes()

    def answer(request: Request) -> bytes:
        prepare(request, TYPES[path.suffix])
        return content

    return AnswerResource(answer)


class Folder(Resource):
    """A folder; its 404 answer is a line of text in place of Twisted's page."""

    def getChild(self, path: bytes, request: Request) -> Resource:
        """Return the resource of an unknown name; called by Twisted."""
        del path, request
        # So every path below an unknown name gets the same answer.
        return Folder()

    def render(self, request: Request) -> bytes:
        """Answer a request for the folder itself or an unknown name; called by Twisted."""
        prepare(request, "text/plain; charset=utf-8", 404)
        return b"there is nothing here\n"


PREFIX: Final = "emu_"


class MeasuresCollector(Collector):
    """The adapter between `emu.metrics` and the Prometheus library."""

    def __init__(self, measures: MetricRegistry) -> None:
        self._measures = measures

    def collect(self) -> Iterable[Metric]:
        """Return every measure as a metric family; called by the library for each scrape."""
        return [family_of(reading) for reading in self._measures.read_samples()]


def metrics_answer(measures: MetricRegistry) -> AnswerResource:
    """Answer with all metrics, in the format that the client accepts.

    The library's own resource is not used: it reads in a thread while the reactor's thread counts.
    """
    registry = registry_of(measures)

    def answer(request: Request) -> bytes:
        written, content_type = choose_encoder(request.getHeader("accept") or "")
        prepare(request, content_type)
        return written(registry)

    return AnswerResource(answer)


def registry_of(measures: MetricRegistry) -> CollectorRegistry:
    """Return a registry of the library with the server's measures and those of the process."""
    registry = CollectorRegistry()
    registry.register(MeasuresCollector(measures))
    ProcessCollector(namespace=PREFIX.rstrip("_"), registry=registry)
    PlatformCollector(registry=registry)
    return registry


def family_of(reading: Reading) -> Metric:
    """Return one measure as a metric family."""
    name, about = PREFIX + reading.family.name, reading.family.about
    labels = list(reading.family.labels)
    if reading.kind is MetricType.HISTOGRAM:
        return _histogram(HistogramMetricFamily(name, about, labels=labels), reading.values)
    kind = CounterMetricFamily if reading.kind is MetricType.COUNTER else GaugeMetricFamily
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
