from emu.metrics import EndpointMetrics, EndpointUses, MetricRegistry


def test_endpoints_are_counted_by_their_names() -> None:
    measures = MetricRegistry()
    listeners = EndpointMetrics(measures)
    rcon, web = EndpointUses(), EndpointUses()
    listeners.watch("rcon", rcon, lambda: 3)
    listeners.watch("web", web, lambda: 0)
    rcon.requests["done"] += 2
    rcon.logins["refused"] += 1
    rcon.ended["idle"] += 4
    web.requests["200"] += 5
    assert measures.value("connections", "rcon") == 3
    assert measures.value("requests", "rcon", "done") == 2
    assert measures.value("requests", "web", "200") == 5
    assert measures.value("requests", "web", "done") == 0
    assert measures.value("authentications", "rcon", "refused") == 1
    assert measures.value("connections_ended", "rcon", "idle") == 4


def test_each_count_of_an_endpoint_has_one_name() -> None:
    uses = EndpointUses()
    uses.requests["done"] += 2
    uses.logins["accepted"] += 1
    uses.ended["banned"] += 1
    assert uses.counted() == {"requests done": 2, "logins accepted": 1, "banned": 1}
