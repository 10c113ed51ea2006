"""Fill the opcode tables under `opcodes/` with the numbers of EQ2Emulator's dumps.

    python -m tools.fill_opcodes world.sql.gz login.sql.gz rewrite.sql.gz

A row that the tables have stays as it is. For each range of versions one dump adds the names that
are missing: the first one with a range that covers it. The dumps contradict themselves and each
other in places; `CORRECTIONS` decides these, and `STUDIED` adds what only a study of the client
knows.
Source: docs/protocol/opcodes.md#decisions.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from emu.files import opcodes_folder
from emu.opcodes.files import read_rows
from emu.opcodes.table import CUT_LENGTH, FIRST_DEAD_NUMBER, RENAMED, OpcodeRow, VersionRange
from emu.opcodes.text import read_folder, write_folder

SOURCES: Final = ("EQ2Emulator world data", "EQ2Emulator login data", "EQ2Emulator-Rewrite data")
"""The sources of the rows of the three dumps, in the order of the arguments."""
DECIDED: Final = "docs/protocol/opcodes.md#decisions"
LOGIN_ONLY: Final = frozenset({VersionRange(547, 559)})
"""Ranges whose numbers are known for the login only."""
FIRST_COMMAND: Final = "OP_EqHearChatCmd"
COMMAND_NOTE: Final = "inside OP_ClientCmdMsg"

SPELLINGS: Final[Mapping[str, str]] = {
    **RENAMED,
    "OP_ConsigmentCloseStoreMsg": "OP_ConsignmentCloseStoreMsg",
    "OP_PlayerMadeInstacnesScreen": "OP_PlayerMadeInstancesScreen",
    "OP_PromoFlagsDetailMsg": "OP_PromoFlagsDetailsMsg",
    "OP_ReceipelistUnknown": "OP_RecipeListUnknown",
    "OP_Unknown_51": "OP_MonitorCharacterListMsg",
}
"""Spellings that occur in some ranges only, with the spelling of the other ranges."""


class Correction(NamedTuple):
    """The names of one rule, their numbers and the reason; None stands for "no such message"."""

    first: int
    last: int
    numbers: Mapping[str, int | str | None]
    """A number, or the name of the message behind which this one stands."""
    reason: str


def _shifted(numbers: Mapping[str, int], by: int) -> dict[str, int | str | None]:
    return {f"OP_{name}": number + by for name, number in numbers.items()}


CORRECTIONS: Final = (
    Correction(
        370, 374,
        _shifted({
            "BuyPlayerHouseMsg": 120, "BuyPlayerHouseTintMsg": 121, "CollectAllHouseItemsMsg": 122,
            "RelinquishHouseMsg": 123, "EnterHouseMsg": 124, "ExitHouseMsg": 125,
            "HouseDefaultAccessSetMsg": 126, "HouseAccessSetMsg": 127, "HouseAccessRemoveMsg": 128,
            "PayHouseUpkeepMsg": 129, "EnterMoveObjectModeMsg": 130, "PositionMoveableObject": 131,
            "ShaderCustomizationMsg": 132, "ReplaceableSubMeshesMsg": 133, "TintWidgetsMsg": 138,
            "ExamineConsignmentRequestMsg": 139, "ExamineConsignmentResponseMsg": 140,
            "UISettingsResponseMsg": 141,
        }, 3),
        "3 less in the data, as at 283; its neighbors moved by 3",
    ),
    Correction(
        370, 374,
        _shifted({
            "DisplayGroupOptionsScreenMsg": 163, "DumpSchedulerMsg": 165, "LSCheckAcctLockMsg": 167,
            "RequestHelpRepathMsg": 169, "UpdateMotdMsg": 171, "PerformCameraShakeMsg": 173,
            "CancelledFeignMsg": 175,
        }, 2),
        "2 less in the data, as at 283; its neighbors moved by 2",
    ),
    Correction(
        370, 374,
        {"OP_ConsignmentUpdateMsg": None, "OP_ChatFriendLoginStatusMsg": None},
        "no number is free between its neighbors",
    ),
    Correction(
        540, 561,
        {"OP_CreateBoatTransportsMsg": 224},
        "220 in the world data, the number of OP_ChangeServerControlFlagMsg; 224 in the others",
    ),
    Correction(
        540, 561,
        {"OP_EqSetDebugPathPointsCmd": "OP_EqCreateListBoxCmd"},
        "1 more in the data; a study of the client of 546 read this case",
    ),
    Correction(
        560, 561,
        {"OP_BeginTrackingMsg": 325, "OP_StopTrackingMsg": 326, "OP_AdvancementRequestMsg": 327},
        "uncertain: 1 less in the data, as at 546; OP_TrackingUpdateMsg moved by 1",
    ),
    Correction(
        560, 561,
        _shifted({
            "EqMapExplorationCmd": 487, "EqStoreLogCmd": 488, "EqSpellMoveToRangeAndRetryCmd": 489,
            "EqArenaResultsCmd": 491, "EqGuildBankEventActionCmd": 492,
            "EqGuildBankExamineInfoCmd": 493, "EqHearSpellNoLandCmd": 494,
        }, 8),
        "1 less in the data; the commands around it moved by 8 from 546",
    ),
    Correction(
        1096, 1190,
        {"OP_EqShowBookCmd": "OP_EqDebugPVDCmd"},
        "1 less in the data, the number of OP_EqDebugPVDCmd; the next number is free",
    ),
    Correction(
        1188, 57031,
        {"OP_MoveLogUpdateMsg": "OP_WorldPingMsg"},
        "10 less in the world data, the number of OP_BeginTrackingMsg; the rewrite has this",
    ),
    Correction(
        1188, 57031,
        {"OP_ExpPurchWindow": None},
        "the number of OP_TradeskillList",
    ),
    Correction(
        1208, 1212,
        {"OP_EarlyLandingRequestMsg": "OP_CurrentPet"},
        "442 in the rewrite, the number of OP_ResendWorldChannelsMsg",
    ),
    Correction(
        57032, 64753,
        {"OP_UpdateGroupMemberDataMsg": "OP_CloseGroupInviteWindowMsg"},
        "the number of OP_CSToolAccessResponseMsg in the world data; the rewrite has this",
    ),
    Correction(
        60085, 60116,
        {"OP_OpenCharCust": 564, "OP_SubmitCharCust": 565},
        "2 more in the world data; the login data and the rewrite have this",
    ),
    Correction(
        63167, 64753,
        {"OP_SOEAllAccess": None},
        "the number of OP_EqHearChatCmd",
    ),
)  # fmt: skip

STUDIED: Final[Mapping[VersionRange, Mapping[str, int]]] = {
    VersionRange(540, 546): {
        "OP_AfterInvSpellUpdate": 59,
        "OP_UpdateArenaMsg": 315,
        **{f"OP_ArenaUnknown{number}": number for number in range(378, 401)},
        "OP_HouseItemsDetailsMsg": 409,
        "OP_HouseItemsIdsMsg": 410,
    },
    VersionRange(560, 561): {
        "OP_AfterInvSpellUpdate": 59,
        "OP_UpdateArenaMsg": 316,
        **{f"OP_ArenaUnknown{number}": number + 2 for number in range(378, 401)},
        "OP_HouseItemsDetailsMsg": 411,
        "OP_HouseItemsIdsMsg": 412,
    },
}
"""Messages that a study of the client of 546 read and no dump names. At 560 and 561 they stand
between the same neighbors."""
STUDY: Final = "a study of the client of 546"

Table = Mapping[str, int]


def filled(
    present: Iterable[OpcodeRow], dumps: Iterable[tuple[str, Iterable[OpcodeRow]]]
) -> Iterator[OpcodeRow]:
    """Yield the rows of the tables with what the dumps, each behind its source, add to them."""
    read = [(source, _by_range(rows)) for source, rows in dumps]
    tables: defaultdict[VersionRange, list[OpcodeRow]] = defaultdict(list)
    for row in present:
        tables[row.range].append(row)
    for version_range, rows in tables.items():
        yield from _with_more(version_range, rows, read)


def _with_more(
    version_range: VersionRange,
    present: list[OpcodeRow],
    dumps: list[tuple[str, dict[VersionRange, Table]]],
) -> list[OpcodeRow]:
    """Return the rows of one range and those that the dumps and the study add to them."""
    rows = list(present)
    if version_range in LOGIN_ONLY:
        return rows
    source, table = _covering(version_range, dumps)
    rows += _missing(version_range, rows, source, table)
    # A dump with exactly these versions may know messages that the first one lacks.
    for other, others in dumps:
        known = {row.name for row in rows} | table.keys()
        taken = {row.opcode for row in rows}
        more = {
            name: number
            for name, number in others.get(version_range, {}).items()
            if name not in known and number not in taken
        }
        rows += _missing(version_range, rows, other, more)
    return rows + _missing(version_range, rows, STUDY, STUDIED.get(version_range, {}))


def _by_range(rows: Iterable[OpcodeRow]) -> dict[VersionRange, Table]:
    rows = list(rows)
    names = {row.name for row in rows}
    tables: defaultdict[VersionRange, dict[str, int]] = defaultdict(dict)
    for row in rows:
        # The dumps use numbers from here up for messages that a client does not have.
        if row.opcode < FIRST_DEAD_NUMBER and row.opcode != 999:
            name = SPELLINGS.get(row.name, row.name)
            cut = name[:CUT_LENGTH]
            tables[row.range][cut if cut in names else name] = row.opcode
    return dict(tables)


def _covering(
    version_range: VersionRange, dumps: Iterable[tuple[str, dict[VersionRange, Table]]]
) -> tuple[str, Table]:
    """Return source and table of the first dump with a range that covers this one."""
    for source, tables in dumps:
        around = [
            one
            for one in tables
            if one.first <= version_range.first and version_range.last <= one.last
        ]
        if around:
            return source, tables[min(around, key=lambda one: one.width)]
    return "", {}


def _missing(
    version_range: VersionRange, rows: list[OpcodeRow], source: str, table: Table
) -> list[OpcodeRow]:
    """Return the rows of a dump's table that the present rows of the range lack."""
    numbers = dict(table) | {row.name: row.opcode for row in rows}
    present = {row.name for row in rows}
    decided = dict(_decided(version_range, numbers))
    numbers |= {name: number for name, (number, _) in decided.items() if number is not None}
    added = []
    for name in sorted(table.keys() - present):
        number, reason = decided.get(name, (table[name], ""))
        if number is None:
            continue
        note = COMMAND_NOTE if number >= numbers.get(FIRST_COMMAND, FIRST_DEAD_NUMBER) else ""
        added.append(
            OpcodeRow(*version_range, name, number, DECIDED if reason else source, reason or note)
        )
    return added


def _decided(
    version_range: VersionRange, numbers: Table
) -> Iterator[tuple[str, tuple[int | None, str]]]:
    """Yield each name for which a correction holds, with its number and the reason."""
    for rule in CORRECTIONS:
        if not rule.first <= version_range.first <= rule.last:
            continue
        for name, number in rule.numbers.items():
            if name not in numbers:
                continue
            found = numbers[number] + 1 if isinstance(number, str) else number
            # Data that have the right number need no note.
            if found != numbers[name]:
                yield name, (found, rule.reason)


def main() -> None:
    """Write the filled tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dumps", nargs=3, type=Path, metavar="DUMP")
    parser.add_argument("--folder", type=Path, default=opcodes_folder())
    args = parser.parse_args()
    dumps = [
        (source, [row for _, row in read_rows(path)])
        for source, path in zip(SOURCES, args.dumps, strict=True)
    ]
    rows = list(filled(read_folder(args.folder), dumps))
    write_folder(rows, args.folder)
    print(f"wrote {len(rows)} rows")


if __name__ == "__main__":
    main()
