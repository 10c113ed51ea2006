"""Our measures in the form that Prometheus reads, parsed by its own library."""

from __future__ import annotations

from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from emu.metrics import MetricRegistry
from emu.net.web.resources import registry_of


def test_every_kind_of_measure_is_read_by_the_library() -> None:
    measures = MetricRegistry()
    logins = measures.counter("logins", "Login requests.", ["result"])
    logins.add("accepted", by=3)
    logins.add('odd "name"\n')
    measures.gauge("sessions", "Sessions now.", lambda: {("login",): 7.0}, ["port"])
    ticks = measures.histogram("tick_seconds", "A tick.", bounds=(0.1, 1.0))
    for seconds in (0.05, 0.5, 5.0):
        ticks.observe(seconds)
    text = generate_latest(registry_of(measures)).decode()
    found = {
        (sample.name, tuple(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert found["emu_logins_total", (("result", "accepted"),)] == 3
    assert found["emu_logins_total", (("result", 'odd "name"\n'),)] == 1
    assert found["emu_sessions", (("port", "login"),)] == 7
    assert found["emu_tick_seconds_bucket", (("le", "0.1"),)] == 1
    assert found["emu_tick_seconds_bucket", (("le", "1.0"),)] == 2
    assert found["emu_tick_seconds_bucket", (("le", "+Inf"),)] == 3
    assert found["emu_tick_seconds_sum", ()] == 5.55
    assert any(name.startswith("emu_process_") for name, _ in found)
