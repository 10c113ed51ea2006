"""The examples of data/monitoring speak of nothing but what a running server exports."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.request import urlopen

import pytest
from mkdocs.utils import yaml_load  # type: ignore[attr-defined]
from prometheus_client.parser import text_string_to_metric_families
from twisted.internet.task import Clock
from twisted.internet.threads import deferToThread

from emu.cluster.memory import NodesInMemory
from emu.config import parse
from emu.files import data_file
from emu.metrics import MetricRegistry
from emu.net.bus.service import JoinedBus
from emu.net.bus.transport import TransportState
from emu.net.cluster.node import NodeService
from emu.net.scheduler import Scheduler
from emu.processes.exchange import OwnProcess
from tests.support.cluster.brokers import MemoryBroker, MemoryTransport, start
from tests.support.foreign.npm import npm_modules
from tests.support.foreign.programs import debian_program
from tests.support.running.whole_server import HOST, find_port, harness, reactor, sleep

VECTORS = Path(__file__).parent.parent / "vectors" / "monitoring"
SERIES = {
    "counter": ("_total",),
    "gauge": ("",),
    "histogram": ("_bucket", "_sum", "_count"),
}
"""What Prometheus appends to a family's name, by the family's type."""
GRAFANA_TYPES = "@grafana/schema/dist/types/raw/dashboard/x/types.gen"
OF_PROMETHEUS = {"up"}
"""What Prometheus itself notes of whatever it scrapes."""
WORDS = {"by", "without", "on", "ignoring", "and", "or", "unless", "bool", "offset"}
NO_NAMES = re.compile(r'"[^"]*"|\{[^}]*\}|\[[^\]]*\]|\b(?:by|without|on|ignoring) *\([^)]*\)')
NAME = re.compile(r"\b[a-zA-Z_:][\w:]*\b(?! *\()")


def names_in(expression: str) -> set[str]:
    """Return the names of the series that a PromQL expression asks for."""
    return set(NAME.findall(NO_NAMES.sub(" ", expression))) - WORDS


def alerts() -> Iterator[tuple[str, str]]:
    groups = yaml_load(data_file("monitoring", "alerts.yml").read_text("utf-8"))["groups"]
    for rule in (rule for group in groups for rule in group["rules"]):
        yield rule["alert"], rule["expr"]


def dashboard() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(data_file("monitoring", "grafana.json").read_text("utf-8"))
    return loaded


def panels() -> Iterator[tuple[str, str]]:
    for panel in dashboard()["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]


async def scraped(folder: Path) -> str:
    """Return what /metrics of a server with login and world says."""
    async with harness(folder, {"web.listen": f"{HOST}:0"}) as server:
        port = find_port(server.log.text, "web", "metrics on")
        return await deferToThread(fetched, f"http://{HOST}:{port}/metrics")


def of_a_node() -> set[str]:
    """Return the series of the bus, which only a node of a cluster exports."""
    measures, broker = MetricRegistry(), MemoryBroker()
    transport: Any = MemoryTransport(broker)
    transport.state = TransportState("memory")
    own, scheduler = OwnProcess("west", 1), Scheduler(reactor)
    JoinedBus(own, transport, scheduler, start=start, failed=[].append).measure(measures)
    return {
        f"emu_{reading.family.name}{suffix}"
        for reading in measures.read_samples()
        for suffix in SERIES[reading.kind.value]
    }


def exported_by_nodes() -> set[str]:
    """Return the gauges of the nodes of a cluster."""
    measures = MetricRegistry()
    storage: Any = SimpleNamespace(nodes=NodesInMemory(lambda: 0.0))
    node = NodeService(parse({}, []), storage, Scheduler(Clock()), address=lambda: None)
    node.measure(measures)
    return {f"emu_{one.family.name}" for one in measures.read_samples()}


def fetched(url: str) -> str:
    with urlopen(url, timeout=20) as answer:
        body: bytes = answer.read()
    return body.decode()


def promtool(*arguments: object, given: str = "") -> None:
    """Run Prometheus's own checker."""
    program = debian_program("promtool", "prometheus")
    done = subprocess.run(
        [program, *map(str, arguments)],
        input=given, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_names_are_distinguished_from_functions_labels_and_durations() -> None:
    expression = 'sum by (le, port) (rate(a_total{x="b"}[5m])) / on (port) c_d > 0.1 and up == 0'
    assert names_in(expression) == {"a_total", "c_d", "up"}


async def test_alerts_and_dashboard_ask_for_what_the_server_exports(tmp_path: Path) -> None:
    text = await scraped(tmp_path)
    exported = OF_PROMETHEUS | {
        family.name + suffix
        for family in text_string_to_metric_families(text)
        for suffix in SERIES[family.type]
    }
    exported |= of_a_node() | exported_by_nodes()
    for where, expression in (*alerts(), *panels()):
        assert names_in(expression), where
        assert names_in(expression) <= exported, where


def test_every_metric_of_nodes_is_on_the_dashboard() -> None:
    shown = {name for _, expression in panels() for name in names_in(expression)}
    assert exported_by_nodes() <= shown


def test_panels_have_numbers_of_their_own_and_lie_side_by_side() -> None:
    panels = dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    covered = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(covered)) == len(covered)
    assert max(x for x, _ in covered) < 24


@pytest.mark.nightly
def test_grafanas_own_types_take_the_dashboard(tmp_path: Path) -> None:
    modules = npm_modules()
    (tmp_path / "node_modules").symlink_to(modules)
    checked = tmp_path / "dashboard.ts"
    checked.write_text(
        f"import type {{ Dashboard }} from './node_modules/{GRAFANA_TYPES}'\n"
        f"export const dashboard: Dashboard = {json.dumps(dashboard(), indent=2)}\n"
    )
    words = ["node", modules / "typescript" / "bin" / "tsc", "--noEmit", "--strict"]
    words += ["--skipLibCheck", checked]  # the types alone take most of the time
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_is_tried_in_a_rule_test() -> None:
    tests = yaml_load((VECTORS / "alerts.yml").read_text("utf-8"))["tests"]
    rules = [rule for test in tests for rule in test["alert_rule_test"]]
    fired = {rule["alertname"] for rule in rules if rule["exp_alerts"]}
    assert fired == {name for name, _ in alerts()}


def test_the_scraped_port_is_the_one_of_the_guide() -> None:
    scrape = yaml_load(data_file("monitoring", "prometheus.yml").read_text("utf-8"))
    (job,) = scrape["scrape_configs"]
    (target,) = job["static_configs"][0]["targets"]
    guide = Path(__file__).parent.parent.parent / "docs" / "guides" / "monitoring.md"
    assert f'listen = "{target}"' in guide.read_text("utf-8")
    assert all(f'job="{job["job_name"]}"' in expression for _, expression in panels())


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "config", data_file("monitoring", "prometheus.yml")),
        ("check", "rules", data_file("monitoring", "alerts.yml")),
        ("test", "rules", VECTORS / "alerts.yml"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_prometheus_takes_the_examples(arguments: tuple[object, ...]) -> None:
    promtool(*arguments)


async def test_prometheus_finds_nothing_amiss_in_the_metrics(tmp_path: Path) -> None:
    promtool("check", "metrics", given=await scraped(tmp_path))


@contextmanager
def prometheus(folder: Path, target: int) -> Iterator[str]:
    """Run Prometheus with the examples, for a server at a port of this machine; yield its URL."""
    program = debian_program("prometheus", "prometheus")
    scrape = data_file("monitoring", "prometheus.yml").read_text("utf-8")
    scrape = scrape.replace("127.0.0.1:9464", f"{HOST}:{target}").replace("15s", "200ms")
    (folder / "prometheus.yml").write_text(scrape)
    shutil.copy(data_file("monitoring", "alerts.yml"), folder)
    with socket.create_server((HOST, 0)) as probe:
        at = f"{HOST}:{probe.getsockname()[1]}"
    words = [program, "--config.file=prometheus.yml", "--storage.tsdb.path=data"]
    with (folder / "prometheus.log").open("w") as log:
        process = subprocess.Popen(
            [*words, f"--web.listen-address={at}"], cwd=folder, stdout=log, stderr=log
        )
    try:
        yield f"http://{at}/api/v1/"
    finally:
        process.kill()  # nobody needs what it has stored
        process.wait(20)


def results_of(url: str) -> list[dict[str, Any]]:
    """Return what Prometheus answers, nothing while it does not answer yet."""
    with suppress(OSError):
        found: list[dict[str, Any]] = json.loads(fetched(url))["data"]["result"]
        return found
    return []


async def test_prometheus_scrapes_a_running_server_and_weighs_every_alert(tmp_path: Path) -> None:
    async with harness(tmp_path, {"web.listen": f"{HOST}:0"}) as server:
        port = find_port(server.log.text, "web", "metrics on")
        with prometheus(tmp_path, port) as url:
            seen: list[dict[str, Any]] = []
            for _ in range(200):  # it first looks for targets after five seconds
                seen = await deferToThread(results_of, f"{url}query?query=emu_sessions_now")
                if seen:
                    break
                await sleep(0.1)
            up = await deferToThread(results_of, f"{url}query?query=up")
            await sleep(0.5)  # until the rules were weighed
            reported = json.loads(await deferToThread(fetched, f"{url}rules"))["data"]["groups"]
    assert {one["metric"]["port"] for one in seen} == {"login", "world"}
    assert [one["value"][1] for one in up] == ["1"]
    rules = {rule["name"]: (rule["health"], rule["state"]) for rule in reported[0]["rules"]}
    assert rules == {name: ("ok", "inactive") for name, _ in alerts()}
