"""The time until `/metrics` of a server with a thousand sessions is there, beside a plain page."""

from __future__ import annotations

import http.client
import time

from tools.bench.crowd import crowd, gather
from tools.bench.figures import Figure, Round
from tools.bench.processes import child
from tools.ports import free_port

CAME = 1000
SCRAPES = 20
PLAIN = "tools.bench.page_server"


def seconds(server: http.client.HTTPConnection, path: str) -> float:
    """Ask on an open connection, as a scraper does; return the mean time of an answer."""
    begun = time.perf_counter()
    for _ in range(SCRAPES):
        server.request("GET", path)
        answer = server.getresponse()
        if answer.status != 200 or not answer.read():
            raise SystemExit(f"{path} answered {answer.status}")
    return (time.perf_counter() - begun) / SCRAPES


def report(rounds: int) -> list[Figure]:
    """Scrape a server with a crowd and ask for a plain page in turn."""
    web = free_port()
    with crowd(f"web.listen=127.0.0.1:{web}") as (_, group), child(PLAIN, "plain") as bare:
        came = gather(group, CAME)
        ours, plain = (http.client.HTTPConnection("127.0.0.1", port) for port in (web, bare.port))
        found = [
            Round(seconds(ours, "/metrics") * 1e3, seconds(plain, "/") * 1e3) for _ in range(rounds)
        ]
        group.leave(30.0)
    what = f"/metrics of {came:,} sessions"
    return [Figure(what, "ms", "plain page", found, "under 5 ms")]
