"""Made-up players of EQ2Emulator servers, as mysqldump writes their two databases.

The columns are those of EQ2Emulator's tables, as far as players need them. As a program, it stands
in for mysqldump: ``python -m tests.support.files.eq2emu_players [OPTIONS] DATABASE [TABLE...]``.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from emu.login.passwords import eq2emulator_hash

Rows = Sequence[Mapping[str, Any]]
SECRET, WORD = "old secret", "geheim"
"""The passwords of Alice and of Bob."""
LOOKS = {
    "model_type": 111, "hair_type": 1122, "facial_hair_type": 0, "chest_type": 5459,
    "legs_type": 5466, "wing_type": 0, "soga_model_type": 4157, "soga_hair_type": 1130,
    "soga_facial_hair_type": 0, "soga_chest_type": 0, "soga_legs_type": 0, "soga_wing_type": 0,
}  # fmt: skip
ALDANA = {
    "name": "Aldana", "race": 9, "class": 3, "gender": 1, "deity": 2, "body_size": 0.25,
    "level": 37, "tradeskill_class": 4, "tradeskill_level": 12, "created_date":
    "2015-06-01 12:00:00", "last_played": "2020-02-02 20:02:02", **LOOKS,
}  # fmt: skip
BORVIK = {**ALDANA, "name": "Borvik", "race": 2, "class": 33, "gender": 2, "level": 8}


def _account(number: int, name: str, password: str, version: int, enabled: int = 1) -> Any:
    return {
        "id": number, "name": name, "passwd": eq2emulator_hash(password.encode()),
        "ip_address": "192.0.2.7", "created_date": 1_400_000_000, "last_client_version": version,
        "account_enabled": enabled,
    }  # fmt: skip


def _world(number: int, name: str, account: str) -> Any:
    return {
        "id": number, "name": name, "account": account, "password": "ab" * 64, "disabled": 0,
        "description": f"{name}'s \"lands\"",
    }  # fmt: skip


def _listed(number: int, account: int, world: int, char_id: int, who: Mapping[str, Any]) -> Any:
    place = {"current_zone": "antonica", "current_zone_id": 12}
    ids = {"id": number, "account_id": account, "server_id": world, "char_id": char_id}
    return {"deleted": 0, **who, **place, **ids}


def _color(owner: str, number: int, whose: int, kind: str, *parts: int) -> Any:
    red, green, blue = parts
    return {
        "id": number, owner: whose, "signed_value": 1, "type": kind, "red": red, "green": green,
        "blue": blue,
    }  # fmt: skip


def _played(number: int, account: int, who: Mapping[str, Any], **changes: Any) -> Any:
    where = {"current_zone_id": 12, "x": 348.5, "y": -9.25, "z": 829.75, "heading": 120.0}
    others = {"starting_city": 1, "deleted": 0, "admin_status": 0, "instance_id": 0}
    return {"id": number, "account_id": account, "server_id": 3, **who, **where, **others} | changes


def _details(number: int, char_id: int, **changes: Any) -> Any:
    plain = {
        "coin_copper": 0, "coin_silver": 0, "coin_gold": 0, "coin_plat": 0, "bank_copper": 0,
        "bank_silver": 0, "bank_gold": 0, "bank_plat": 0, "status_points": 0, "xp": 0,
        "xp_needed": 0, "prefix_title": -1, "suffix_title": -1, "last_name": "", "pet_name": "",
    }  # fmt: skip
    return {"id": number, "char_id": char_id} | plain | changes


def _numbered(*rows: Mapping[str, Any]) -> Rows:
    return [{"id": 500 + place, **row} for place, row in enumerate(rows)]


LOGIN: Mapping[str, Rows] = {
    "account": [
        _account(7, "Alice", SECRET, 546),
        _account(8, "bob", WORD, 561),
        _account(9, "Carl", "x", 546, enabled=0),
    ],
    "login_bannedips": [{"ip": "198.51.100.", "reason": "rude", "notes": ""}],
    "login_char_colors": [
        _color("login_characters_id", 1, 41, "skin_color", -61, -106, 122),
        _color("login_characters_id", 2, 41, "eye_type", 10, -20, 30),
    ],
    "login_characters": [
        _listed(41, 7, 3, 900, ALDANA),
        _listed(42, 8, 3, 901, BORVIK),
        {**_listed(43, 8, 3, 902, {**BORVIK, "name": "Gone"}), "deleted": 1},
        _listed(44, 8, 4, 900, {**BORVIK, "name": "Dusk"}),
    ],
    "login_equipment": [
        {"id": 1, "login_characters_id": 41, "equip_type": 500, "red": 1, "green": 2, "blue": 3,
         "highlight_red": 4, "highlight_green": 5, "highlight_blue": 6, "slot": 3},
    ],
    "login_worldservers": [_world(3, "Antonia", "anto"), _world(4, "Permafrost", "perma")],
    "ls_world_zones": [
        {"id": 1, "server_id": 3, "zone_id": 12, "name": "Antonica", "description": "Antonica"},
    ],
}  # fmt: skip
"""The login database: Alice has Aldana, Bob has Borvik and, on another world, Dusk."""
ANTONIA: Mapping[str, Rows] = {
    "char_colors": [
        _color("char_id", 1, 900, "skin_color", -61, -106, 122),
        _color("char_id", 2, 900, "eye_type", 10, -20, 30),
        _color("char_id", 3, 900, "body_size", 25, 0, 0),
    ],
    "character_buyback": _numbered(
        {"char_id": 900, "item_id": 73, "quantity": 4, "price": 6},
        {"char_id": 900, "item_id": 74, "quantity": 1, "price": 120},
    ),
    "character_details": [
        _details(1, 900, coin_copper=21, coin_silver=43, coin_gold=65, coin_plat=7, bank_gold=2,
                 status_points=77, xp=1234, xp_needed=10_000, prefix_title=1, suffix_title=0,
                 pet_name="Fluff", last_name="O'Stormfist"),
        _details(2, 901),
    ],
    "character_factions": _numbered(
        {"char_id": 900, "faction_id": 11, "faction_level": 12_500},
        {"char_id": 900, "faction_id": 12, "faction_level": -40_000},
    ),
    "character_items": _numbered(
        {"char_id": 900, "type": "NOT-EQUIPPED", "bag_id": -3, "slot": 2, "item_id": 70,
         "count": 1, "condition_": 100, "attuned": 0, "creator": ""},
        {"char_id": 900, "type": "NOT-EQUIPPED", "bag_id": 500, "slot": 3, "item_id": 71,
         "count": 9, "condition_": 90, "attuned": 1, "creator": "Meg"},
        {"char_id": 900, "type": "EQUIPPED", "bag_id": 0, "slot": 2, "item_id": 72,
         "count": 1, "condition_": 100, "attuned": 0, "creator": ""},
    ),
    "character_languages": _numbered(
        {"char_id": 900, "language_id": 0}, {"char_id": 900, "language_id": 2},
        {"char_id": 900, "language_id": 13},
    ),
    "character_lua_history": _numbered(
        {"char_id": 900, "event_id": 12, "value": 1, "value2": 4_000_000_000},
    ),
    "character_macros": _numbered(
        {"char_id": 900, "macro_number": 2, "macro_icon": 31, "macro_name": "Greet",
         "macro_text": "hail"},
        {"char_id": 900, "macro_number": 2, "macro_icon": 31, "macro_name": "Greet",
         "macro_text": "say Well met!"},
    ),
    "character_quest_progress": _numbered(
        {"char_id": 900, "quest_id": 131, "step_id": 1, "progress": 4},
        {"char_id": 900, "quest_id": 131, "step_id": 2, "progress": 1},
        {"char_id": 900, "quest_id": 132, "step_id": 1, "progress": 3},
    ),
    "character_quest_rewards": _numbered({"char_id": 900}),
    "character_quests": _numbered(
        {"char_id": 900, "quest_id": 131, "quest_giver": 2530001,
         "given_date": "2024-03-01 12:00:00", "completed_date": None, "current_quest": 1,
         "tracked": 0, "quest_flags": 5, "hidden": 1, "complete_count": 0},
        {"char_id": 900, "quest_id": 132, "quest_giver": 0,
         "given_date": "2024-03-01 12:00:00", "completed_date": "2024-03-02 12:00:00",
         "current_quest": 0, "tracked": 1, "quest_flags": 0, "hidden": 0, "complete_count": 2},
        {"char_id": 900, "quest_id": 133, "quest_giver": 0,
         "given_date": "0000-00-00 00:00:00", "completed_date": "2024-03-02 12:00:00",
         "current_quest": 0, "tracked": 1, "quest_flags": 0, "hidden": 0, "complete_count": 0},
    ),
    "character_recipe_books": _numbered(
        {"char_id": 900, "recipebook_id": 75}, {"char_id": 900, "recipebook_id": 76},
        {"char_id": 900, "recipebook_id": 75},
    ),
    "character_skillbar": _numbered(
        {"char_id": 900, "type": 4, "hotbar": 1, "slot": 2, "spell_id": 0, "tier": 0,
         "text_val": "hail"},
        {"char_id": 900, "type": 1, "hotbar": 1, "slot": 3, "spell_id": 110014, "tier": 5,
         "text_val": "Unused"},
        {"char_id": 900, "type": 2, "hotbar": 1, "slot": 4, "spell_id": 70, "tier": 0,
         "text_val": "Unused"},
    ),
    "character_skills": _numbered(
        {"char_id": 900, "skill_id": 3421494576, "current_val": 180, "max_val": 185, "progress": 0},
        {"char_id": 900, "skill_id": 540022425, "current_val": 90, "max_val": 100, "progress": 0},
    ),
    "character_social": _numbered(
        {"char_id": 900, "name": "Borvik", "type": "FRIEND"},
        {"char_id": 900, "name": "Rude", "type": "IGNORE"},
    ),
    "character_spells": _numbered(
        {"char_id": 900, "spell_id": 99, "tier": 1, "knowledge_slot": 0},
        {"char_id": 900, "spell_id": 110014, "tier": 5, "knowledge_slot": -1},
        {"char_id": 900, "spell_id": 99, "tier": 7, "knowledge_slot": 0},
    ),
    "character_titles": _numbered(
        {"char_id": 900, "title_id": 70}, {"char_id": 900, "title_id": 71},
    ),
    "characters": [
        _played(900, 7, ALDANA),
        _played(901, 8, BORVIK, current_zone_id=4711, admin_status=100),
        _played(902, 8, {**BORVIK, "name": "Gone"}, deleted=1),
    ],
    "titles": [
        {"id": 70, "title": "of the Harbor", "prefix": 0},
        {"id": 71, "title": "Master Baker", "prefix": 1},
    ],
    "zones": [
        {"id": 12, "name": "Antonica", "file": "antonica"},
        {"id": 4711, "name": "OldCellar", "file": "old_cellar"},
    ],
}  # fmt: skip
"""The database of the world Antonia."""
HOMES: Mapping[str, Rows] = {
    "character_collection_items": _numbered(
        {"char_id": 900, "collection_id": 3, "collection_item_id": 82},
        {"char_id": 900, "collection_id": 4, "collection_item_id": 80},
    ),
    "character_collections": _numbered(
        {"char_id": 900, "collection_id": 3, "completed": 0},
        {"char_id": 900, "collection_id": 4, "completed": 1},
    ),
    "character_house_deposits": [
        {"timestamp": 1_600_000_000, "house_id": 5, "instance_id": 913, "name": "Aldana",
         "amount": 300, "last_amount": 50, "status": 7, "last_status": 7},
    ],
    "character_house_history": [
        {"timestamp": 1_600_000_100, "house_id": 5, "instance_id": 913, "name": "Aldana",
         "reason": "Paid Upkeep", "amount": 50, "status": 0, "pos_flag": 0},
    ],
    "character_houses": _numbered(
        {"char_id": 900, "house_id": 5, "instance_id": 913, "upkeep_due": 1_700_000_000,
         "escrow_coins": 250, "escrow_status": 7},
    ),
    "spawn_instance_data": [
        {"spawn_id": 9, "spawn_location_id": 60, "pickup_item_id": 90,
         "pickup_unique_item_id": 9403622},
    ],
    "spawn_location_placement": [
        {"id": 1, "zone_id": 12, "spawn_location_id": 59, "x": 0, "y": 0, "z": 0, "heading": 0,
         "instance_id": 0},
        {"id": 2, "zone_id": 12, "spawn_location_id": 60, "x": 5.5, "y": 0.25, "z": -2.5,
         "heading": 10, "instance_id": 913},
    ],
}  # fmt: skip
"""What Aldana has besides: two collections, and a house with a thing in it."""
LETTERS: Mapping[str, Rows] = {
    "character_mail": _numbered(
        {"player_to_id": 900, "player_from": "Meg", "subject": "Bread", "mail_body":
         "Two loaves,\nas agreed.", "already_read": 1, "mail_type": 0, "coin_copper": 5,
         "coin_silver": 2, "coin_gold": 0, "coin_plat": 1, "stack": 0, "postage_cost": 10,
         "attachment_cost": 0, "char_item_id": 0, "time_sent": 1_580_000_000, "expire_time": 0},
        {"player_to_id": 900, "player_from": "Meg", "subject": "Bread", "mail_body": None,
         "already_read": 0, "mail_type": 0, "coin_copper": 0, "coin_silver": 0, "coin_gold": 0,
         "coin_plat": 0, "stack": 2, "postage_cost": 10, "attachment_cost": 50,
         "char_item_id": 70, "time_sent": 1_580_000_100, "expire_time": 0},
    ),
}  # fmt: skip
"""The letters of Aldana."""
WOLVES: Mapping[str, Rows] = {
    "guild_members": _numbered(
        {"guild_id": 19, "char_id": 900, "points": 3.5, "rank_id": 2, "member_flags": 6,
         "join_date": 1_600_000_000, "note": "Bakes bread", "officer_note": "Promote soon"},
        {"guild_id": 19, "char_id": 901, "points": 0, "rank_id": 7, "member_flags": 2,
         "join_date": 1_600_000_100, "note": "", "officer_note": None},
    ),
    "guild_ranks": _numbered(
        {"guild_id": 19, "rank_id": 0, "rank_name": "Alpha", "permission1": 0, "permission2": 0},
        {"guild_id": 19, "rank_id": 2, "rank_name": "Beta", "permission1": 6320242,
         "permission2": 4_294_967_295},
    ),
    "guilds": [
        {"id": 19, "name": "The Wolves of 99", "motd": "Meet at\nthe inn", "level": 1, "xp": 111,
         "xp_needed": 2521, "formed_on": 1_500_000_000},
    ],
}  # fmt: skip
"""The guild of Aldana and Borvik."""
DATABASES = {"eq2ls": LOGIN, "eq2emu": ANTONIA}


def changed(database: Mapping[str, Rows], **tables: Rows) -> dict[str, Rows]:
    """Return a database with other rows in some tables; None removes a table."""
    return {name: rows for name, rows in {**database, **tables}.items() if rows is not None}


def mysqldump(
    database: Mapping[str, Rows],
    *,
    extended: bool = True,
    complete: bool = False,
    definitions: bool = True,
) -> str:
    """Return the dump of a database: --extended-insert, --complete-insert, table definitions."""
    text = "-- MariaDB dump 10.19\n/*!40101 SET NAMES utf8mb4 */;\n"
    for table, rows in sorted(database.items()):
        columns = list(rows[0]) if rows else ["id"]
        if definitions:
            lines = ",\n".join(
                f"  `{column}` varchar(64) NOT NULL DEFAULT ''" for column in columns
            )
            text += f"DROP TABLE IF EXISTS `{table}`;\nCREATE TABLE `{table}` (\n{lines},\n"
            text += f"  PRIMARY KEY (`{columns[0]}`)\n) ENGINE=InnoDB DEFAULT CHARSET=latin1;\n"
        text += f"LOCK TABLES `{table}` WRITE;\n/*!40000 ALTER TABLE `{table}` DISABLE KEYS */;\n"
        names = f" ({', '.join(f'`{column}`' for column in columns)})" if complete else ""
        values = [f"({','.join(_literal(row[column]) for column in columns)})" for row in rows]
        packets = [",\n".join(values)] if extended and values else values
        for packet in packets:
            text += f"INSERT INTO `{table}`{names} VALUES\n{packet};\n"
        text += f"/*!40000 ALTER TABLE `{table}` ENABLE KEYS */;\nUNLOCK TABLES;\n"
    return text + "-- Dump completed on 2026-11-23 12:00:00\n"


def _literal(value: object) -> str:
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace('"', '\\"') + "'"
    return "NULL" if value is None else str(value)


def main(words: Sequence[str]) -> str:
    """Return what mysqldump prints for these arguments."""
    options = {word for word in words if word.startswith("-")}
    database, *tables = [word for word in words if word not in options]
    chosen = DATABASES[database]
    if tables:
        chosen = {table: chosen.get(table, ()) for table in tables}
    return mysqldump(
        chosen,
        extended="--skip-extended-insert" not in options,
        complete="--complete-insert" in options,
        definitions="--no-create-info" not in options,
    )


if __name__ == "__main__":
    sys.stdout.write(main(sys.argv[1:]))
