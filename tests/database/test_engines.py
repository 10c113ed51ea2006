"""A database is opened by where it is; the driver of PostgreSQL only when it is needed."""

import subprocess
import sys
from pathlib import Path

import pytest

from emu.database import ServerUrl, engines
from emu.database.engines import create_database, exists, open_database, open_for_reading
from emu.database.sqlite import SqliteDatabase
from emu.errors import StoreError
from emu.store.repository import schemas

URL = ServerUrl.parse("postgresql://emu@127.0.0.1/emu")


def test_a_path_is_a_sqlite_file(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    assert not exists(path)
    with pytest.raises(StoreError, match="no such database"):
        open_database(path, schemas())
    create_database(path, schemas()).close()
    assert exists(path)
    for way in (open_database, open_for_reading):
        with way(path, schemas()) as database:
            assert isinstance(database, SqliteDatabase)


def test_without_the_driver_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "find_spec", lambda _: None)
    for way in (open_database, open_for_reading, create_database):
        with pytest.raises(StoreError, match=r'^postgresql://emu@127.*pip install "eq2emu\[clus'):
            way(URL, schemas())
    assert exists(URL)


@pytest.mark.slow
def test_a_sqlite_file_needs_no_other_driver(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom emu.store import Store\nimport emu.net.server\n"
        f"Store.create(Path({str(tmp_path / 'emu.sqlite')!r})).close()\n"
        "print([name for name in sys.modules if name.startswith(('psycopg', 'nats'))])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert found.stdout.strip() == "[]"
