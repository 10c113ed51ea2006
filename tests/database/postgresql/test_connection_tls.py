"""Connections with TLS: between machines, the URL asks for it and names the authority."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from emu.database import ServerUrl
from emu.database.postgresql.connection import ServerConnection
from emu.errors import StoreAway
from tests.support.certificates import OwnCertificate, make_certificate
from tests.support.database.own_server import own_server


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> OwnCertificate:
    return make_certificate(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def where(files: OwnCertificate) -> Iterator[ServerUrl]:
    with own_server() as server:
        server.use_tls(*files)
        yield server.where


def with_options(where: ServerUrl, mode: str, authority: Path) -> ServerUrl:
    return replace(where, options=(("sslmode", mode), ("sslrootcert", str(authority))))


@pytest.mark.slow
def test_a_server_whose_authority_is_named_is_reached_with_tls(
    where: ServerUrl, files: OwnCertificate
) -> None:
    url = with_options(where, "verify-full", files.certificate)
    with closing(ServerConnection(url)) as connection:
        row = connection.execute(
            "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
        ).fetchone()
        assert row["ssl"]


@pytest.mark.slow
def test_a_server_of_another_authority_is_refused_in_one_line(
    where: ServerUrl, tmp_path: Path
) -> None:
    url = with_options(where, "verify-full", make_certificate(tmp_path).certificate)
    with closing(ServerConnection(url)) as connection, pytest.raises(StoreAway) as caught:
        connection.execute("SELECT 1")
    assert "certificate verify failed" in str(caught.value)
    assert "\n" not in str(caught.value)
