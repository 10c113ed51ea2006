"""Commands of petitions and reports: writing, cancelling, answering, and what forms contain."""

from __future__ import annotations

import pytest

from emu.link.messages import BugReport
from emu.world.registration.registry import relay_bug_reports
from tests.support.world.worlds import Client, WorldHarness


def lines(client: Client) -> list[str]:
    return [row["text"] for row in client.decoded("WS_DisplayText")]


def test_a_petition_is_answered_at_once(harness: WorldHarness) -> None:
    one = harness.stand(5, name="Aldana")
    guide = harness.stand(6, name="Olwyn", admin_status=10)
    [line] = one.types("petition I am stuck")
    number = int(line.split()[5].rstrip("."))
    assert lines(guide)[-1] == f"Petition {number} of Aldana: I am stuck"
    shown = guide.types("petition list")
    assert shown[0] == "1 open petition"
    assert shown[1].startswith(f"{number}: petition of Aldana, ")
    assert guide.types(f"petition answer {number} We come") == [
        f"petition {number} of Aldana is answered"
    ]
    assert lines(one)[-1] == f"Your petition {number} is answered: We come"
    assert one.types("petition mine")[1] == "answer of Olwyn: We come"
    assert guide.types(f"petition close {number}") == [f"petition {number} of Aldana is closed"]
    assert guide.types("petition list") == ["0 open petitions"]
    assert guide.types("petition list closed")[0] == "1 closed petition"
    assert any(line.startswith("at Isle") for line in guide.types(f"petition show {number}"))
    assert guide.types("petition show 999999") == ["there is no petition 999999"]


def test_an_answer_waits_for_its_player(harness: WorldHarness) -> None:
    one = harness.stand(5, name="Aldana")
    one.types("petition Help")
    one.say("OP_RequestCampMsg", b"\1\1")
    [row] = harness.console("petition list").data
    assert harness.console(f"petition answer {row['id']} Done").ok
    assert not harness.console("petition answer 999999 Done").ok
    again = harness.stand(5)
    assert lines(again)[-1] == f"Your petition {row['id']} is answered: Done"
    again.say("OP_RequestCampMsg", b"\1\1")
    assert "Done" not in " ".join(lines(harness.stand(5)))


def test_a_player_cancels_its_petition_and_has_so_many(harness: WorldHarness) -> None:
    one, other = harness.stand(5), harness.stand(6)
    numbers = [int(one.types(f"petition {n}")[0].split()[5].rstrip(".")) for n in range(5)]
    assert one.types("petition more")[0].startswith("you have too many open petitions")
    assert other.types(f"petition cancel {numbers[0]}")[0].startswith("you have no open petition")
    assert one.types(f"petition cancel {numbers[0]}") == [f"petition {numbers[0]} is cancelled"]
    assert one.types("petition more")[0].startswith("Your petition has the number")
    assert other.types("petition mine") == ["You have no petitions."]
    assert other.types("petition " + "x" * 2001) == ["write 2000 characters at most"]
    assert other.types(f"petition close {numbers[1]}")[0].startswith("petition close needs rank")


def test_other_reports_are_petitions_of_their_kind(harness: WorldHarness) -> None:
    one = harness.stand(5, name="Aldana")
    for line in ("report_abuse He shouts", "report_typo\aa\a\ab", "report_feedback Nice"):
        word, _, rest = line.partition("\a")
        assert one.types(f"{word} {rest}".strip())[0].startswith("Thank you.")
    rows = harness.console("petition list").data
    assert [(row["kind"], row["text"]) for row in rows] == [
        ("abuse", "He shouts"), ("typo", "a / b"), ("feedback", "Nice"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("bug I fell", {"summary": "I fell", "category": ""}),
        ("report_bug UI\amap\ano\ayes\aIt is black\aSince noon\a546",
         {"category": "UI", "subcategory": "map", "causes_crash": "no", "reproducible": "yes",
          "summary": "It is black", "description": "Since noon", "version": "546"}),
        ("bug " + "ä" * 500, {"summary": "ä" * 63}),
        ("report_bug 1\a2\a3\a4\a5\a6\a7\a8\a9", {"summary": "5", "version": "7"}),
    ],
)  # fmt: skip
def test_a_bug_report_goes_to_the_operators(
    harness: WorldHarness, line: str, expected: dict[str, str]
) -> None:
    sent: list[BugReport] = []
    relay_bug_reports(harness.world.processes.bus, sent.append)
    one = harness.stand(5, name="Aldana")
    assert one.types(line)[0].startswith("Thank you. Your report has the number ")
    [report] = sent
    assert {name: getattr(report, name) for name in expected} == expected
    assert (report.player, report.account_id, report.zone_id) == ("Aldana", 105, 325)
    assert len(report.encode()) == 2556


def test_a_bug_report_has_a_summary_and_is_paced(harness: WorldHarness) -> None:
    one = harness.stand(5)
    assert one.types("report_bug UI\amap") == ["the report has no summary"]
    lines = [line for _ in range(300) for line in one.types("bug again")]
    assert "Wait a moment." in lines
