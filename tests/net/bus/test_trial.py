"""The trial of the bus on real brokers: rights, certificates, credentials, addresses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import pytest

from emu.config import parse
from emu.net.bus.trial import BusTrial, try_bus
from tests.support.certificates import make_certificate
from tests.support.cluster.engines import nats_broker
from tools.ports import free_port

pytest.importorskip("nats", reason="nats-py is not installed")
pytestmark = pytest.mark.slow
DATABASE = "postgresql://emu@127.0.0.1:1/none"
USERS = """
tls {{ cert_file: "{0}/server.pem", key_file: "{0}/server.key" }}
authorization {{ users: [
  {{ user: emu, password: secret, permissions: {{ publish: "emu.>", subscribe: "emu.>" }} }}
  {{ user: poor, password: secret, permissions: {{ publish: "x.>", subscribe: "emu.>" }} }}
] }}
"""


class Secured(NamedTuple):
    """A broker with TLS and users."""

    url: str
    folder: Path


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("nats")
    make_certificate(folder)
    (folder / "nats.conf").write_text(USERS.format(folder))
    for user, password in (("emu", "secret"), ("poor", "secret"), ("nobody", "wrong")):
        (folder / user).write_text(f"{user}:{password}\n")
    with nats_broker("-c", folder / "nats.conf") as broker:
        yield Secured(f"tls://127.0.0.1:{broker.port}", folder)


def tried(**settings: object) -> BusTrial:
    return try_bus(parse({"database": {"url": DATABASE}, "bus": settings}, []), monotonic)


def test_a_user_with_its_rights_is_well(secured: Secured) -> None:
    found = tried(
        url=secured.url, credentials_file=str(secured.folder / "emu"),
        certificate=str(secured.folder / "server.pem"),
    )  # fmt: skip
    assert found.problem == ""
    assert found.delay > 0


@pytest.mark.parametrize(
    ("user", "changes", "problem", "cure"),
    [
        ("poor", {}, "permissions violation", "let the user publish and subscribe to emu.>"),
        ("emu", {"prefix": "other"}, "permissions violation", "subscribe to other.>"),
        ("nobody", {}, "Authorization Violation", "set bus.credentials_file"),
        ("none", {}, "bus.credentials_file: ", "that the server's user can read"),
        ("emu", {"certificate": ""}, "CERTIFICATE_VERIFY_FAILED", "set bus.certificate"),
    ],
)
def test_faults_have_a_cure(
    secured: Secured, user: str, changes: dict[str, str], problem: str, cure: str
) -> None:
    settings = {
        "url": secured.url, "credentials_file": str(secured.folder / user),
        "certificate": str(secured.folder / "server.pem"),
    } | changes  # fmt: skip
    found = tried(**{name: value for name, value in settings.items() if value})
    assert problem in found.problem
    assert cure in found.cure


def test_a_wrong_address_is_said() -> None:
    found = tried(url=f"nats://127.0.0.1:{free_port()}")
    assert found.cure.startswith("start the broker, or set bus.url")
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    found = tried()
    assert found.problem
    assert found.cure == "start the database, or set [database] url"
