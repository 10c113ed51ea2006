from dataclasses import replace

from emu.admin.snapshot import Rates
from emu.cli.watch import status
from tests.support.admin.snapshots import Measured
from tests.support.admin.statuses import BOB, HARBOR


def test_the_state_in_a_few_lines() -> None:
    measured = Measured()
    measured.logins.add("accepted", by=5)
    measured.logins.add("refused", by=2)
    measured.refused.add("bad password", by=2)
    measured.ticks.observe(0.0004)
    reported = status.summary(Rates(measured.snapshot(locked=True)))
    assert reported == {
        "server": "Qeynos, 0.1.0, up 16:40, process 7, locked",
        "players": "2 players of 500 in 2 zones, 2 in all worlds",
        "sessions": "login 3, world 2; 0 not validated yet",
        "logins": "5 accepted, 2 refused (bad password 2)",
        "world ticks": "p50 0.25 ms, p99 0.49 ms",
        "waiting": "passwords 4, database 0, writes 0",
    }


def test_a_server_that_has_done_nothing_yet() -> None:
    reported = status.summary(Rates(Measured().snapshot(players=(), zones=(), places=0, online=0)))
    assert reported["players"] == "0 players in 0 zones, 0 in all worlds"
    assert reported["logins"] == "0 accepted, 0 refused"
    assert reported["world ticks"] == "none yet"


def test_zones_with_their_own_ticks_the_fullest_first() -> None:
    measured = Measured()
    measured.zone_ticks.observe(0.02, "qey_harbor", "1")
    full = replace(HARBOR, instance=1, players=7)
    first, second = status.zone_rows(Rates(measured.snapshot(zones=(HARBOR, full))))
    assert (first["instance"], first["players"], first["tick_p99_ms"]) == (1, 7, 24.9)
    assert (second["instance"], second["tick_p50_ms"]) == (0, None)


def test_players_worlds_and_listeners() -> None:
    now = Measured().snapshot(players=(replace(BOB, link_dead=True),))
    (player,) = status.player_rows(now)
    assert player["state"] == "link-dead"
    assert (player["zone"], player["online"], player["address"]) == (
        "Qeynos Harbor", 300, "192.0.2.7",
    )  # fmt: skip
    assert status.world_rows(now) == [{"world": "Norrath", "state": "up", "players": 2}]
    login, rcon, console = status.listener_rows(now)
    assert login["seen"] == "sessions 3, idle"
    assert rcon["seen"] == "wrong password 3, connections 1"
    assert console["seen"] == ""


def test_traffic_and_drops_by_the_second() -> None:
    measured = Measured()
    measured.traffic["bytes_sent"].add("login", by=100)
    measured.drops.add("login", "old", by=9)
    before = measured.snapshot(taken=10.0)
    measured.traffic["bytes_sent"].add("login", by=500)
    measured.drops.add("world", "new", by=2)
    rates = Rates.between(before, measured.snapshot(taken=12.0))
    login, world = status.traffic_rows(rates)
    assert (login["port"], login["bytes_out"], world["bytes_out"]) == ("login", 250.0, 0.0)
    assert [(row["reason"], row["count"], row["a_second"]) for row in status.drop_rows(rates)] == [
        ("new", 2, 1.0),
        ("old", 9, 0.0),
    ]
    alone = status.drop_rows(Rates(before))
    assert [(row["dropped_by"], row["a_second"]) for row in alone] == [("session", None)]
    assert status.traffic_rows(Rates(before))[0]["bytes_in"] is None


def test_what_goes_through_in_lines() -> None:
    measured = Measured()
    before = measured.snapshot(taken=10.0)
    measured.traffic["bytes_sent"].add("login", by=3_000_000)
    measured.traffic["datagrams_sent"].add("login", by=15)
    measured.logins.add("accepted", by=5)
    login, world, rest = status.growth(Rates.between(before, measured.snapshot(taken=20.0)))
    assert login == "login 3 sessions, in 0/s 0B/s, out 1.5/s 300kB/s, resent 0/s"
    assert world.startswith("world 2 sessions")
    assert rest == "logins 0.5/s, dropped 0/s"
    assert status.growth(Rates(before))[2] == "logins -/s, dropped -/s"


def test_numbers_in_few_letters() -> None:
    shown = [status.short(one) for one in (None, 0, 0.25, 999, 12_345, 9.9e6, 2e9)]
    assert shown == ["-", "0", "0.25", "999", "12.3k", "9.9M", "2G"]


def test_milliseconds_have_the_digits_that_they_are_worth() -> None:
    shown = [status.milliseconds(one) for one in (None, 0.00026, 0.0042, 0.25)]
    assert shown == [None, 0.26, 4.2, 250.0]


def test_troubles_are_shown_when_there_are_any() -> None:
    snapshot = Measured().snapshot()
    assert "troubles" not in status.summary(Rates(snapshot))
    troubled = replace(snapshot, troubles=("zone Antonica is stalled", "Guard is paused"))
    reported = status.summary(Rates(troubled))["troubles"]
    assert reported == "zone Antonica is stalled; Guard is paused"
