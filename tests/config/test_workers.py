"""The configuration of one worker of several."""

from pathlib import Path

from emu.config import Address, parse
from emu.config.load import differences
from emu.config.ports import listening_ports
from emu.config.setting import with_settings
from emu.config.workers import of_worker

EVERYTHING = [
    "world.enabled=no", "rcon.password=long enough", "web.listen=127.0.0.1:1",
    "ogp.listen=127.0.0.1:2", "a2s.listen=127.0.0.1:3", "ssq.enabled=yes", "ggmp.policy=open",
    "webhook.url=http://127.0.0.1:4/", "trace.file=/var/trace.pcapng", "console.path=/run/emu.sock",
    "link.certificate=/etc/link.pem", "link.tls_listen=127.0.0.1:5",
]  # fmt: skip


def test_the_first_worker_has_everything() -> None:
    config = parse({}, EVERYTHING)
    assert of_worker(config, 0, "host") is config


def test_the_others_open_no_port_but_that_of_clients_and_a_page_of_their_own() -> None:
    config = of_worker(parse({}, EVERYTHING), 2, "host")
    assert {port.key for port in listening_ports(config)} == {"login.listen", "web.listen"}
    assert (config.web.listen, config.web.admin) == (Address("127.0.0.1", 3), False)
    assert of_worker(parse({}, []), 1, "host").web.listen is None
    assert config.webhook.url == ""
    assert config.database.keep_deleted == 0, "the first one removes deleted characters"


def test_each_has_a_console_and_a_capture_of_its_own() -> None:
    config = parse({}, EVERYTHING)
    assert of_worker(config, 1, "host").console_path == Path("/run/emu-1.sock")
    assert of_worker(config, 2, "host").trace.file == Path("/var/trace-2.pcapng")
    assert of_worker(parse({}, []), 1, "host").trace.file is None


def test_each_is_a_node_with_a_name_of_its_own() -> None:
    config = parse({}, ["node.name=login"])
    names = [of_worker(config, index, "host").node.name for index in range(3)]
    assert names == ["login", "login_1", "login_2"]
    assert of_worker(parse({}, []), 1, "host").node.name == "host_1"
    longest = of_worker(parse({}, [f"node.name={'n' * 31}"]), 12, "host").node.name
    assert (len(longest), longest[-4:]) == (31, "n_12")


def test_what_players_notice_is_the_same() -> None:
    config = with_settings(parse({}, EVERYTHING), {"login": {"max_characters": 3}})
    changed = {one.key for one in differences(config, of_worker(config, 1, "host"))}
    assert not {key for key in changed if key.startswith(("network.", "login.", "log."))}
