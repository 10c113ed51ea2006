"""Checks of opcode rows, and the search for missing messages.

The server refuses tables with an error. A warning is probably a mistake. A note explains how the
rows are read. A needed message without a number is "lost" if the shipped tables have one, because
an edit or an import has removed it; otherwise clients of the version cannot be served yet.
Source: docs/protocol/opcodes.md#data-sets, docs/protocol/opcodes.md.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from emu.opcodes.changes import Rejected
from emu.opcodes.table import (
    FIRST_PLACEHOLDER,
    SENTINELS,
    WHOLE_TABLE,
    OpcodeRow,
    OpcodeTables,
    VersionRange,
    dead_numbers,
    full_names,
    is_absent,
    preference,
    row_problem,
)

NEEDED = (
    "OP_LoginRequestMsg",
    "OP_LoginByNumRequestMsg",
    "OP_LoginReplyMsg",
    "OP_AllWSDescRequestMsg",
    "OP_WorldListMsg",
    "OP_WorldStatusChangeMsg",
    "OP_AllCharactersDescReplyMsg",
    "OP_CreateCharacterRequestMsg",
    "OP_CreateCharacterReplyMsg",
    "OP_DeleteCharacterRequestMsg",
    "OP_DeleteCharacterReplyMsg",
    "OP_PlayCharacterRequestMsg",
    "OP_PlayCharacterReplyMsg",
)
"""The messages that the services need for every client. They work without any other message."""

ENTERING = "OP_ZoneInfoMsg"
"""The message that only a table with a world's messages has: other tables serve the login only."""
NEEDED_TO_ENTER = (
    ENTERING,
    "OP_DoneLoadingZoneResourcesMsg",
    "OP_DoneSendingInitialEntitiesMsg",
    "OP_DoneLoadingEntityResourcesMsg",
    "OP_PredictionUpdateMsg",
    "OP_SetRemoteCmdsMsg",
    "OP_RemoteCmdMsg",
    "OP_GameWorldTimeMsg",
    "OP_RequestCampMsg",
    "OP_CampStartedMsg",
    "OP_CampAbortedMsg",
    "OP_WhoQueryReplyMsg",
    "OP_ClientCmdMsg",
    "OP_UpdateTargetMsg",
    "OP_UpdateCharacterSheetMsg",
    "OP_UpdateSkillBookMsg",
    "OP_ChangeZoneMsg",
    "OP_TeleportWithinZoneNoReloadMsg",
    "OP_ReadyToZoneMsg",
    "OP_SitMsg",
    "OP_StandMsg",
    "OP_DefaultGroupOptionsMsg",
    "OP_PopulateSkillMapsMsg",
    "OP_SignalMsg",
    "OP_KnownLanguagesMsg",
    "OP_EqHearChatCmd",
    "OP_EqDisplayTextCmd",
    "OP_EqCreateGhostCmd",
    "OP_EqCreateWidgetCmd",
    "OP_EqCreateSignWidgetCmd",
    "OP_EqDestroyGhostCmd",
    "OP_EqUpdateGhostCmd",
    "OP_EqSetControlGhostCmd",
    "OP_EqSetPOVGhostCmd",
    "OP_EqChatChannelUpdateCmd",
    "OP_EqWhoChannelQueryReplyCmd",
)
"""The messages that a client needs to enter a world and to see others there."""

FROM_CLIENTS = (
    "OP_AllCharactersDescRequestMsg",
    "OP_BeginItemCreationMsg",
    "OP_BeginTrackingMsg",
    "OP_BioUpdateMsg",
    "OP_BuyPlayerHouseMsg",
    "OP_CancelMoveObjectModeMsg",
    "OP_CancelSpellCast",
    "OP_ClientFellMsg",
    "OP_DefaultGroupOptionsRequestMsg",
    "OP_DialogCloseMsg",
    "OP_DialogSelectMsg",
    "OP_DoneLoadingUIResourcesMsg",
    "OP_EnterHouseMsg",
    "OP_EntityVerbsRequestMsg",
    "OP_EntityVerbsVerbMsg",
    "OP_ExamineInfoRequestMsg",
    "OP_ExitHouseMsg",
    "OP_GroupOptionsMsg",
    "OP_HouseAccessRemoveMsg",
    "OP_HouseAccessSetMsg",
    "OP_HouseDefaultAccessSetMsg",
    "OP_KeymapLoadMsg",
    "OP_KnowledgeWindowSlotMappingMsg",
    "OP_LootItemsRequestMsg",
    "OP_LsClientAlertlogReplyMsg",
    "OP_LsClientBaselogReplyMsg",
    "OP_LsClientCrashlogReplyMsg",
    "OP_LsClientVerifylogReplyMsg",
    "OP_MacroUpdateMsg",
    "OP_MailSendMessageMsg",
    "OP_MapFogDataUpdateMsg",
    "OP_MapRequest",
    "OP_PaperdollImage",
    "OP_PayHouseUpkeepMsg",
    "OP_PetOptions",
    "OP_PositionMoveableObject",
    "OP_QuestJournalInspectMsg",
    "OP_QuestJournalOpenMsg",
    "OP_QuestJournalSetVisibleMsg",
    "OP_QuestJournalWaypointMsg",
    "OP_QuickbarUpdateMsg",
    "OP_RequestRecipeDetailsMsg",
    "OP_SelectZoneTeleporterDestinatio",
    "OP_SendLatestRequestMsg",
    "OP_SkillInfoRequest",
    "OP_StoodMsg",
    "OP_StopItemCreationMsg",
    "OP_StopTrackingMsg",
    "OP_UpdatePositionMsg",
    "OP_WaypointSelectMsg",
)
"""More messages that clients send and the services read; clients do without an answer."""

SPOKEN = frozenset((*NEEDED, *NEEDED_TO_ENTER, *FROM_CLIENTS))
"""The messages that need numbers of their own: by the number the services choose a handler."""


class Missing(NamedTuple):
    """Messages without a number in a span of versions; `lost` ones have a shipped number."""

    versions: VersionRange
    lost: tuple[str, ...]
    never: tuple[str, ...]


def missing_messages(tables: OpcodeTables, shipped: OpcodeTables) -> Iterator[Missing]:
    """Yield, in order, each span of versions that lacks a needed message."""
    for first, last, table in tables.spans():
        known = shipped.for_version(first) if shipped.covers(first) else None
        # A table that serves only the login is not reported for the messages of a world.
        enters = any(one is not None and one.get(ENTERING) for one in (table, known))
        needed = NEEDED + NEEDED_TO_ENTER if enters else NEEDED
        gone = [name for name in needed if table.get(name) is None]
        if not gone:
            continue
        lost = tuple(name for name in gone if known is not None and known.get(name) is not None)
        never = tuple(name for name in gone if name not in lost)
        yield Missing(VersionRange(first, last), lost, never)


MAX_SHOWN = 6
"""Names or numbers in one finding."""
MAX_PAIRS = 5000
"""Overlapping pairs of ranges that are compared."""

CORE: Mapping[str, int] = {
    "OP_LoginRequestMsg": 0,
    "OP_LoginByNumRequestMsg": 1,
    "OP_WSLoginRequestMsg": 2,
    "OP_ESLoginRequestMsg": 3,
    "OP_LoginReplyMsg": 4,
    "OP_WSStatusReplyMsg": 5,
    "OP_WorldStatusChangeMsg": 6,
    "OP_AllWSDescRequestMsg": 7,
    "OP_WorldListMsg": 8,
    "OP_AllCharactersDescRequestMsg": 9,
    "OP_AllCharactersDescReplyMsg": 10,
    "OP_CreateCharacterRequestMsg": 11,
    "OP_CreateCharacterReplyMsg": 12,
}
"""Numbers that are the same in every client version."""


class Severity(StrEnum):
    """The severity of a finding."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class OpcodeFinding(NamedTuple):
    """One finding; `code` names the rule, `range` is "" if it concerns all rows."""

    severity: Severity
    code: str
    range: str
    message: str


def check(
    rows: Sequence[OpcodeRow],
    *,
    used: Iterable[str] = SPOKEN,
    rejected: Iterable[Rejected] = (),
    shipped: OpcodeTables | None = None,
) -> list[OpcodeFinding]:
    """Return all findings, the most severe first.

    Two names of `used` must not share a number; two others may, as in EQ2Emulator's own tables.
    `rejected` are the unusable rows of a file. With the `shipped` tables, each client version is
    also checked for the messages that the services need.
    """
    # Invalid rows are reported once. The other checks could not make sense of them.
    problems = [(str(row.range), problem) for row in rows if (problem := row_problem(row))]
    good = [row for row in rows if row_problem(row) is None] if problems else rows
    by_range: defaultdict[VersionRange, list[OpcodeRow]] = defaultdict(list)
    for row in good:
        by_range[row.range].append(row)
    full = full_names({row.name for row in good})
    tables = OpcodeTables(good)
    refused = [(one.place, one.problem) for one in rejected]
    found = [*_unusable([*refused, *problems]), *_coverage(tables), *_cut_names(full)]
    if shipped is not None:
        found += needed_findings(tables, shipped)
    for version_range in sorted(by_range):
        group = by_range[version_range]
        found += _core(version_range, group)
        found += _shared(version_range, group, full, frozenset(used))
        found += _absent(version_range, group)
        found += _twins(version_range, group, full)
    found += _overlaps(by_range)
    order = list(Severity)
    # Sorting is stable, so findings of one severity stay in the order of the ranges.
    return sorted(found, key=lambda finding: order.index(finding.severity))


def errors(findings: Iterable[OpcodeFinding]) -> list[OpcodeFinding]:
    """Return the findings for which the server refuses the tables."""
    return [finding for finding in findings if finding.severity is Severity.ERROR]


def _unusable(problems: Iterable[tuple[str, str]]) -> Iterator[OpcodeFinding]:
    """Yield findings about rows that cannot be used, each with its place and its problem."""
    inverted: defaultdict[str, list[str]] = defaultdict(list)
    for place, problem in problems:
        # A dump with an inverted range has it in every row; one finding for all of them is
        # enough.
        if problem.startswith("inverted"):
            inverted[problem.partition(" (")[0]].append(f"{place}: {problem}")
        else:
            yield _error("invalid-row", "", f"{place}: {problem}")
    for problem, all_of_it in inverted.items():
        text = f"{problem}: {len(all_of_it)} rows cannot be used, the first at {all_of_it[0]}"
        yield _error("inverted-range", problem.rpartition(" ")[2], text)


def _coverage(tables: OpcodeTables) -> Iterator[OpcodeFinding]:
    missing = [str(version) for version in (0, 1) if not tables.covers(version)]
    if missing:
        before = "which every client has before its login; no client could log in"
        yield _error("uncovered", "", f"no range covers version {' and '.join(missing)}, {before}")


def needed_findings(tables: OpcodeTables, shipped: OpcodeTables) -> Iterator[OpcodeFinding]:
    """Yield a finding for each span of versions that lacks a needed message."""
    for one in missing_messages(tables, shipped):
        if one.lost:
            text = (
                f"{_some(one.lost)} lost the number that the program ships; clients of these"
                " versions could not be served; `emu opcodes reset` restores it"
            )
            yield _error("lost-message", one.versions, text)
        if one.never:
            text = "has no number; clients of these versions cannot be served in full"
            yield _warning("missing-message", one.versions, f"{_some(one.never)} {text}")


def _core(version_range: VersionRange, rows: Sequence[OpcodeRow]) -> Iterator[OpcodeFinding]:
    for row in rows:
        if row.name in CORE and row.opcode != CORE[row.name]:
            text = f"{row.name} is {row.opcode}, but it is {CORE[row.name]} in every client version"
            yield _error("core-number", version_range, text)
        owner = _CORE_NAMES.get(row.opcode)
        if owner is not None and row.name not in CORE:
            text = f"{row.name} has number {row.opcode}, which is {owner} in every client version"
            yield _error("core-number", version_range, text)


_CORE_NAMES = {number: name for name, number in CORE.items()}


def _shared(
    version_range: VersionRange,
    rows: Sequence[OpcodeRow],
    full: Mapping[str, str],
    used: frozenset[str],
) -> Iterator[OpcodeFinding]:
    """Yield a finding for each number with several names."""
    dead = dead_numbers(rows)
    names: defaultdict[int, set[str]] = defaultdict(set)
    for row in rows:
        if not is_absent(row.opcode):
            # A cut name and its full name are one message and must not appear as two.
            names[row.opcode].add(full.get(row.name, row.name))
    for number, group in sorted(names.items()):
        if len(group) < 2:
            continue
        ordered = sorted(group, key=lambda name: preference(name, full))
        listed = f"{len(group)} names ({_some(ordered)})"
        if number in dead:
            text = f"{number} has {listed}: a placeholder, read as no number"
            yield _note("dead-group", version_range, text)
        # Only names that this program uses matter: it could not decide which handler a message is
        # for.
        elif len(group & used) > 1:
            both = " and ".join(sorted(group & used))
            text = f"{number} is the number of {both}; the server could not distinguish them"
            yield _error("clash", version_range, text)
        else:
            text = f"{number} has {listed}; {ordered[0]} is shown for it"
            yield _warning("shared-number", version_range, text)


def _absent(version_range: VersionRange, rows: Sequence[OpcodeRow]) -> Iterator[OpcodeFinding]:
    """Yield findings about the numbers that are placeholders by themselves."""
    sentinels = [row for row in rows if row.opcode in SENTINELS]
    if sentinels:
        numbers = ", ".join(map(str, sorted({row.opcode for row in sentinels})))
        text = f"{len(sentinels)} rows have a sentinel ({numbers}) and are read as no number:"
        names = _some([row.name for row in sentinels])
        yield _note("sentinel", version_range, f"{text} {names}")
    others = [row for row in rows if is_absent(row.opcode) and row.opcode not in SENTINELS]
    if others:
        text = f"{len(others)} rows have numbers from {FIRST_PLACEHOLDER} up and are read as no"
        names = _some([f"{row.name} {row.opcode}" for row in others])
        yield _note("placeholder", version_range, f"{text} number: {names}")


def _cut_names(full: Mapping[str, str]) -> Iterator[OpcodeFinding]:
    if full:
        text = f"{len(full)} names were cut at 33 characters and are read as their full names:"
        pairs = _some([f"{cut} = {whole}" for cut, whole in sorted(full.items())])
        yield _note("cut-name", "", f"{text} {pairs}")


def _twins(
    version_range: VersionRange, rows: Sequence[OpcodeRow], full: Mapping[str, str]
) -> Iterator[OpcodeFinding]:
    """Yield a finding for each cut name whose full name has another number in the same range."""
    numbers = {row.name: row.opcode for row in rows}
    for cut, whole in sorted(full.items()):
        first, second = numbers.get(cut), numbers.get(whole)
        if first is None or second is None or is_absent(first) or is_absent(second):
            continue
        if first != second:
            text = f"{cut} is {first}, but its full name {whole} is {second}"
            yield _warning("cut-twin", version_range, text)


def _overlaps(by_range: Mapping[VersionRange, Sequence[OpcodeRow]]) -> Iterator[OpcodeFinding]:
    """Yield a finding for each pair of overlapping ranges: which one wins, and where."""
    ranges = sorted(by_range)
    numbers = {one: {row.name: row.opcode for row in by_range[one]} for one in ranges}
    # The ranges are sorted, so the search ends at the first range that begins behind `one`.
    pairs = (
        (one, other)
        for index, one in enumerate(ranges)
        for other in itertools.takewhile(
            lambda other, last=one.last: other.first <= last,  # type: ignore[misc]
            ranges[index + 1 :],
        )
    )
    # A file may have so many overlapping ranges that comparing all pairs takes too long.
    for one, other in itertools.islice(pairs, MAX_PAIRS):
        common = VersionRange(other.first, min(one.last, other.last))
        # The rule of `OpcodeTables.covering`: of equally narrow ranges the later one wins.
        narrow, wide = sorted((one, other), key=lambda r: (r.width, -r.first))
        differing = [
            f"{name} {number}/{numbers[other][name]}"
            for name, number in sorted(numbers[one].items(), key=lambda item: item[1])
            if numbers[other].get(name, number) != number
        ]
        where = common.first if common.width == 1 else common
        # The table of a whole build takes nothing from a wider range.
        rest = "" if len(by_range[narrow]) >= WHOLE_TABLE else ", and the other adds to it"
        agree = f"{len(differing)} names differ: {_some(differing)}" if differing else "they agree"
        text = f"{one} and {other} overlap at {where}: {narrow} wins as the narrower{rest};"
        finding = _warning if differing else _note
        yield finding("overlap", where, f"{text} {agree} (the wider is {wide})")


def _error(code: str, where: object, text: str) -> OpcodeFinding:
    return OpcodeFinding(Severity.ERROR, code, str(where), text)


def _warning(code: str, where: object, text: str) -> OpcodeFinding:
    return OpcodeFinding(Severity.WARNING, code, str(where), text)


def _note(code: str, where: object, text: str) -> OpcodeFinding:
    return OpcodeFinding(Severity.NOTE, code, str(where), text)


def _some(names: Sequence[str]) -> str:
    """Return the first `MAX_SHOWN` names as text, and the number of the others."""
    more = len(names) - MAX_SHOWN
    return ", ".join(names[:MAX_SHOWN]) + (f" and {more} more" if more > 0 else "")
