from emu.sqldump.report import MOST_NOTES, ImportReport, Tally


def test_many_lines_about_one_table_are_summed_up() -> None:
    report = ImportReport({"a": Tally(5, 1, 2, 2), "b": Tally(1, 1, 0, 0)})
    for number in range(MOST_NOTES + 3):
        report.note("a", f"line {number}")
    report.note("b", "other")
    assert len(report.notes) == MOST_NOTES + 2
    assert report.notes[-2:] == ["other", "a: 3 further lines like these"]
    assert (report.added, report.present, report.left_out) == (2, 2, 2)
