"""Opcode rows as files: CSV, JSON, a list for one client version, EQ2Emulator's SQL dump.

Each function yields text; what it is written to is the caller's business. The CSV form with one
file per range, the one under ``opcodes/``, is `emu.opcodes.files.text`; a whole database is
`emu.opcodes.files.database`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator

from emu.opcodes.files.formats import WIDE_COLUMNS
from emu.opcodes.rows import OpcodeRow
from emu.opcodes.table import OpcodeTable

ROWS_PER_INSERT = 500

_DUMP_HEAD = """\
-- Opcode tables for EQ2Emulator, exported by emu
/*!40101 SET NAMES utf8mb4 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;

DROP TABLE IF EXISTS `opcodes`;
CREATE TABLE `opcodes` (
  `id` int(10) unsigned NOT NULL AUTO_INCREMENT,
  `version_range1` int(10) unsigned NOT NULL DEFAULT 0,
  `version_range2` int(10) unsigned NOT NULL DEFAULT 0,
  `name` varchar(255) NOT NULL DEFAULT '',
  `opcode` smallint(5) unsigned NOT NULL DEFAULT 0,
  `table_data_version` smallint(5) unsigned NOT NULL DEFAULT 1,
  PRIMARY KEY (`id`),
  UNIQUE KEY `newindex` (`version_range1`,`name`,`version_range2`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1;

"""
_INSERT = (
    "INSERT INTO `opcodes` (`id`, `version_range1`, `version_range2`, `name`, `opcode`,"
    " `table_data_version`) VALUES\n"
)
_DUMP_TAIL = "/*!40101 SET SQL_MODE=IFNULL(@OLD_SQL_MODE, '') */;\n"


def as_csv(rows: Iterable[OpcodeRow]) -> Iterator[str]:
    """Yield a CSV file with the version range in each row."""
    yield _line(WIDE_COLUMNS)
    for row in rows:
        yield _line(row.cells)


def as_list(table: OpcodeTable) -> Iterator[str]:
    """Yield what one client version is spoken to with, as ``name,opcode`` lines."""
    yield "name,opcode\n"
    for number, name in sorted(table.names.items()):
        yield f"{name},{number}\n"


def as_json(rows: Iterable[OpcodeRow]) -> Iterator[str]:
    """Yield a JSON list with one object a line."""
    start = "[\n"
    for row in rows:
        cells = dict(zip(WIDE_COLUMNS, row.cells, strict=True))
        yield start + json.dumps(cells, ensure_ascii=False)
        start = ",\n"
    yield "\n]\n" if start == ",\n" else "[]\n"


def as_sql(rows: Iterable[OpcodeRow]) -> Iterator[str]:
    """Yield a dump that MySQL and MariaDB load for EQ2Emulator; it replaces the whole table.

    Names hold nothing that needs an escape; source and note have no column there.
    """
    yield _DUMP_HEAD
    waiting = ""
    for number, row in enumerate(rows, 1):
        if (number - 1) % ROWS_PER_INSERT == 0:
            yield f"{waiting};\n{_INSERT}" if waiting else _INSERT
        else:
            yield f"{waiting},\n"
        waiting = f"({number},{row.first},{row.last},'{row.name}',{row.opcode},1)"
    yield f"{waiting};\n{_DUMP_TAIL}" if waiting else _DUMP_TAIL


def _line(cells: Iterable[object]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(cells)
    return out.getvalue()
