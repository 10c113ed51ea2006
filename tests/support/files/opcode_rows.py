"""Opcode rows for tests: a strategy, and a small dump in each flavor."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import strategies as st

from emu.files import opcodes_folder
from emu.opcodes import OpcodeRow, OpcodeStore, text
from emu.opcodes.text import fingerprint, shipped_rows, shipped_tables

TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z"), include_characters=" "), max_size=12
)
"""What may stand in a source or note."""


ROWS = st.lists(
    st.builds(
        lambda first, width, name, number, source, note: OpcodeRow(
            first, min(first + width, 0xFFFFFFFF), f"OP_{name}", number, source, note
        ),
        st.integers(0, 0xFFFFFFFF),
        st.integers(0, 1000),
        st.text("ABCabc012_", min_size=1, max_size=40),
        st.integers(0, 65535),
        TEXTS,
        TEXTS,
    ),
    max_size=12,
    unique_by=lambda row: row[:3],
)

MARIADB = """\
/*M!999999\\- enable the sandbox mode */
-- MariaDB dump 10.19  Distrib 10.11.14-MariaDB, for debian-linux-gnu (x86_64)
DROP TABLE IF EXISTS `opcodes`;
CREATE TABLE `opcodes` (
  `id` int(10) unsigned NOT NULL AUTO_INCREMENT,
  `version_range1` smallint(5) unsigned NOT NULL DEFAULT 0,
  `version_range2` smallint(5) unsigned NOT NULL DEFAULT 0,
  `name` varchar(255) NOT NULL DEFAULT '',
  `opcode` smallint(5) unsigned NOT NULL DEFAULT 0,
  `table_data_version` smallint(5) unsigned NOT NULL DEFAULT 1,
  PRIMARY KEY (`id`),
  UNIQUE KEY `newindex` (`version_range1`,`name`,`version_range2`)
) ENGINE=InnoDB AUTO_INCREMENT=9 DEFAULT CHARSET=latin1;
LOCK TABLES `opcodes` WRITE;
INSERT INTO `opcodes` VALUES
(1,546,844,'OP_KeymapLoadMsg',151,1),
(2,540,546,'OP_KeymapLoadMsg',153,1),
(3,540,546,'OP_UpdatePositionMsg',9999,1);
UNLOCK TABLES;
"""

HEIDISQL = """\
-- HeidiSQL Version:             11.2.0.6262
/*!50503 SET NAMES utf8mb4 */;
CREATE TABLE IF NOT EXISTS `opcodes` (
  `id` int(10) unsigned NOT NULL AUTO_INCREMENT
) ENGINE=InnoDB;
/*!40000 ALTER TABLE `opcodes` DISABLE KEYS */;
INSERT INTO `opcodes` (`id`, `version_range1`, `version_range2`, `name`, `opcode`) VALUES
\t(1, 546, 844, 'OP_KeymapLoadMsg', 151),
\t(2, 540, 546, 'OP_KeymapLoadMsg', 153),
\t(3, 540, 546, 'OP_UpdatePositionMsg', 9999);
/*!40000 ALTER TABLE `opcodes` ENABLE KEYS */;
"""

ONE_LINE = (
    "INSERT IGNORE INTO `eq2`.`opcodes` (version_range1,version_range2,name,opcode) VALUES "
    "(546,844,'OP_KeymapLoadMsg','151'),(540,546,'OP_KeymapLoadMsg','153');"
    "REPLACE INTO opcodes (name,opcode,version_range1,version_range2)"
    " VALUES ('OP_UpdatePositionMsg',9999,540,546);"
)

DUMPED = [
    OpcodeRow(546, 844, "OP_KeymapLoadMsg", 151),
    OpcodeRow(540, 546, "OP_KeymapLoadMsg", 153),
    OpcodeRow(540, 546, "OP_UpdatePositionMsg", 9999),
]
"""The rows of each of the three dumps."""


FEW = (
    "0000-0369.csv", "0540-0546.csv", "0547-0559.csv", "0560-0561.csv", "0562-0838.csv",
    "0864-0864.csv", "1096-1096.csv", "64736-64753.csv",
)  # fmt: skip
"""Files of the shipped tables that are enough for most tests."""


@contextmanager
def few_rows_shipped() -> Iterator[None]:
    """Have only the tables of `FEW` shipped: every reader of all 35,000 rows takes a while."""

    def forget() -> None:
        for kept in (shipped_rows, shipped_tables, fingerprint):
            kept.cache_clear()

    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for name in FEW:
            shutil.copy2(opcodes_folder() / name, folder)
        patch.setattr(text, "opcodes_folder", lambda: Path(folder))
        forget()
        yield
    forget()


@cache
def _shipped(_fingerprint: str) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "emu.sqlite"
        OpcodeStore.ensure(path).close()
        return path.read_bytes()


def shipped_database(folder: Path) -> Path:
    """Return a database in a folder as `OpcodeStore.ensure` makes it, which takes longer."""
    path = folder / "emu.sqlite"
    path.write_bytes(_shipped(fingerprint(shipped_rows())))
    return path
