from emu.audit import AuditedAct
from emu.times import Moment


def test_a_subject_has_a_kind_and_may_have_a_name() -> None:
    subject = "guild The Wolves"
    act = AuditedAct(
        Moment(1.0), "ann", "game", "guild rename", subject, "Wolves", "The Wolves", "", "done",
        ok=True,
    )  # fmt: skip
    assert (act.kind, act.name) == ("guild", "The Wolves")
    act = act._replace(subject="server")
    assert (act.kind, act.name) == ("server", "")
