"""`emu content info --rules`: the rules of a content file and the settings that take them."""

from __future__ import annotations

from pathlib import Path

from tests.support.content.dumps import meadow, write_dumps
from tests.support.running.command_line import CommandLine


def test_rules_are_shown_with_their_settings(tmp_path: Path) -> None:
    emu, dumps = CommandLine(tmp_path), write_dumps(tmp_path / "dumps", meadow())
    sets = [{"ruleset_id": 1, "ruleset_name": "usual", "ruleset_active": 1}]
    details = [
        {"ruleset_id": 1, "rule_category": category, "rule_type": name, "rule_value": value}
        for category, name, value in (
            ("R_Player", "MaxLevel", "20"), ("R_World", "MaxPlayers", "300"),
            ("R_Guild", "AutoJoin", "0"), ("R_World", "LinkDeadTimer", "soon"),
        )
    ]  # fmt: skip
    write_dumps(dumps, {"rulesets": sets, "ruleset_details": details})
    emu.good("content", "import", str(dumps))
    assert "4 rules, 2 of them defaults of settings" in emu.good("content", "info").stderr

    def shown() -> dict[str, tuple[str, str, str]]:
        rows = emu.rows("content", "info", "--rules")
        return {row["rule"]: (row["value"], row["setting"], row["effect"]) for row in rows}

    assert shown()["R_Player.MaxLevel"] == ("20", "world.max_level", "not served")
    file = tmp_path / "content.sqlite"
    with emu.config.open("a", encoding="utf-8") as config:
        config.write(f'[world]\ncontent = "{file}"\nmax_players = 40\n')
    found = shown()
    assert found["R_Player.MaxLevel"] == ("20", "world.max_level", "in force")
    assert found["R_World.MaxPlayers"] == ("300", "world.max_players", "none: the setting is 40")
    assert found["R_Guild.AutoJoin"] == ("0", "no setting", "")
    assert found["R_World.LinkDeadTimer"][2].startswith("none: ")


def test_the_rules_of_zones_are_shown_with_their_effect(tmp_path: Path) -> None:
    tables = meadow()
    (row,) = tables["zones"]
    emu = CommandLine(tmp_path)
    tables["zones"] = [{**row, "ruleset_id": 2}, {**row, "id": 10, "name": "hill", "ruleset_id": 3}]
    rules = [
        (1, "R_World", "LinkDeadTimer", "60000"), (2, "R_World", "LinkDeadTimer", "30000"),
        (2, "R_Player", "MaxLevel", "10"), (3, "R_World", "MaxPlayers", "7"),
        (3, "R_Zone", "MaxPlayers", "6"),
    ]  # fmt: skip
    tables |= {
        "rulesets": [
            {"ruleset_id": one, "ruleset_name": f"set {one}", "ruleset_active": 1}
            for one in (1, 2, 3)
        ],
        "ruleset_details": [
            {"ruleset_id": one, "rule_category": kind, "rule_type": name, "rule_value": value}
            for one, kind, name, value in rules
        ],
        "variables": [{"variable_name": "default_ruleset_id", "variable_value": "1"}],
    }
    emu.good("content", "import", str(write_dumps(tmp_path / "dumps", tables)))
    with emu.config.open("a", encoding="utf-8") as config:
        config.write(f'[world]\ncontent = "{tmp_path / "content.sqlite"}"\nmax_level = 50\n')
    found = {
        (one["zones"], one["rule"]): (one["setting"], one["effect"])
        for one in emu.rows("content", "info", "--rules")
    }
    assert found == {
        ("all", "R_World.LinkDeadTimer"): ("world.link_dead", "in force"),
        ("9", "R_World.LinkDeadTimer"): ("world.link_dead", "in force"),
        ("9", "R_Player.MaxLevel"): ("world.max_level", "none: world.max_level is set"),
        ("10", "R_World.MaxPlayers"): (
            "world.max_players", "none: the setting is one for all zones",
        ),
        ("10", "R_Zone.MaxPlayers"): (
            "no setting", "`population` of the zones, where no zone file sets it",
        ),
    }  # fmt: skip
