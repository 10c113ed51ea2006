from tests.support.admin.snapshots import Measured


def test_all_is_there_for_json_addresses_of_players_too() -> None:
    measured = Measured()
    measured.logins.add("accepted", by=2)
    measured.ticks.observe(0.002)
    value = measured.value()
    assert value["process"] == 7
    assert value["taken"] == 1000.0
    assert value["server"]["name"] == "Qeynos"
    assert value["players"][0]["address"] == "192.0.2.7"
    assert value["players"][0]["zone"] == "Qeynos Harbor"
    assert value["listeners"][1]["counters"] == {"connections": 1, "wrong password": 3}
    assert value["measures"]["logins"] == [[["accepted"], 2]]
    ((labels, buckets),) = value["measures"]["world_tick_seconds"]
    assert (labels, buckets["count"]) == ([], 1)
    assert value["log"] == ["2026-01-01T00:00:00Z info  server: ready"]
