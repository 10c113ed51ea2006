from emu.cli.doctor.findings import Finding, Level, fail, ok, warn


def test_what_is_well_needs_no_repairing() -> None:
    assert ok("a", "b") == Finding(Level.OK, "a", "b", "")
    assert warn("a", "b", "c").level == "warn"
    assert fail("a", "b", "c")._asdict() == {
        "level": "fail", "check": "a", "what": "b", "fix": "c",
    }  # fmt: skip
