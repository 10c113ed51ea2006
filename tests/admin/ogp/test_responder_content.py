from emu.admin.ogp.elements import ColorChange
from emu.admin.ogp.fields import NOT_ASSIGNED, V91, V94, AddOnFlag, PlayerFlag, all_flags, flags_of
from emu.admin.ogp.responder import POPULATION, OgpContentSource, Presentation, content_of
from tests.support.admin.statuses import NOW, crowd, server_status

PLAIN = Presentation()


def test_zones_are_teams_and_players_are_in_them() -> None:
    content = content_of(server_status(), PLAIN)
    assert [str(team["name"]) for team in content.teams or ()] == [
        "Qeynos Harbor", "Qeynos Harbor 2",
    ]  # fmt: skip
    bob, zoe = content.players or ()
    assert (bob["team"], zoe["team"]) == (0, NOT_ASSIGNED)
    assert (bob["score"], bob["time"], bob["global_id"]) == (20, 300, "eq2:1000")
    assert (bob["flags"], zoe["flags"]) == (
        PlayerFlag.ALIVE, PlayerFlag.ALIVE | PlayerFlag.VIP,
    )  # fmt: skip


def test_addresses_are_sent_to_nobody() -> None:
    content = content_of(server_status(), PLAIN)
    for player in content.players or ():
        assert not {"ipv4", "address"} & set(player)
        assert "192.0.2.7" not in str(player)


def test_behaviors_are_add_ons_and_the_population_is_a_limit() -> None:
    content = content_of(server_status(), PLAIN)
    (one,) = content.add_ons or ()
    assert (one["flags"], one["short_name"]) == (AddOnFlag.ACTIVE, "greeter")
    assert content.limits == [{"type": POPULATION, "limit": 500, "left": 498}]
    assert content_of(server_status(places=0), PLAIN).limits == []
    assert content_of(server_status(places=3, players=crowd(5)), PLAIN).limits == [
        {"type": POPULATION, "limit": 3, "left": 0}
    ]


def test_every_field_of_the_server_is_sent() -> None:
    server = content_of(server_status(), PLAIN).server or {}
    for dialect in (V91, V94):
        assert flags_of(server, dialect.server) == all_flags(dialect.server)
    assert server["server_flags"].system == 2
    assert content_of(server_status(platform="plan9"), PLAIN).server["server_flags"].system == 0


def test_an_operator_colors_the_name_and_numbers_the_game() -> None:
    colors = (ColorChange(0, 10),)
    content = content_of(server_status(), Presentation(258, colors))
    assert (content.game_id, content.server["host_name"].colors) == (258, colors)


def test_content_is_the_same_object_as_long_as_the_status_is() -> None:
    statuses = [server_status()]
    source = OgpContentSource(lambda _now: statuses[-1], PLAIN)
    first = source.content(NOW)
    assert source.content(NOW) is first
    statuses.append(server_status(online=9))
    assert source.content(NOW).server["player_count"] == 9
