"""Dumps of EQ2Emulator's world database, made up: a few rows of the tables that are imported."""

from __future__ import annotations

from pathlib import Path

from emu.sqldump import Dump

ZONES = """
INSERT INTO zones (id, name, file, description, safe_x, safe_y, safe_z, safe_heading, underworld,
 zone_motd) VALUES
 (900, 'Mine', 'mine_file', 'The Mine', 1.5, -2, 3, 90, -1000000, ''),
 (901, 'Other''s', 'other_file', 'The \\"Other\\"', 0, 0, 0, 0, -50.5, 'Mind the gap.');
"""
STARTS = """
INSERT INTO starting_zones (id, class_id, race_id, choice, zone_id, min_version, max_version, x, y,
 z, heading, deity) VALUES
 (1, 255, 255, 255, 900, 0, 0, -999999, -999999, -999999, -999999, 255),
 (2, 11, 3, 4, 901, 546, 561, 1, 2, 3, 45, 0);
"""
SPAWNS = """
INSERT INTO spawn (id, name, sub_title, last_name, race, model_type, size, targetable, show_name,
 command_primary, visual_state, attackable, collision_radius, transport_id) VALUES
 (9000001, 'Ann', 'Cook', 'of Oak', 9, 134, 30, 1, 1, 7, 538, 0, 20, 0),
 (9000002, 'a crate', NULL, '', 0, 1949, 32, 0, 0, 0, 0, 0, 40, 0),
 (9000003, 'a post', NULL, '', 0, 6603, 32, 1, 0, 0, 0, 0, 0, 0),
 (9000004, 'a door', NULL, '', 0, 0, 0, 1, 0, 7, 0, 0, 0, 55),
 (9000005, 'a rat', NULL, '', 0, 85, 32, 1, 1, 0, 0, 1, 10, 0);
INSERT INTO spawn_npcs (spawn_id, min_level, max_level, class_, gender, hair_type_id, mood_state,
 soga_model_type) VALUES (9000001, 5, 7, 1, 2, 1120, 3, 135), (9000005, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO spawn_objects (spawn_id) VALUES (9000002);
INSERT INTO spawn_signs (spawn_id, type, zone_id, widget_id, title, widget_x, widget_y, widget_z,
 description, sign_distance, zone_x, zone_y, zone_z, zone_heading, language) VALUES
 (9000003, 'Zone', 901, 77, 'To the other', 7, 8, 9, 'It''s far.', 20, 4, 5, 6, 180, 1),
 (9010001, 'Generic', 0, 78, 'A notice', 1, 2, 3, 'Hm.', 5, 0, 0, 0, 0, 0),
 (9010002, 'Generic', 0, 79, 'Nowhere', 0, 0, 0, '', 5, 0, 0, 0, 0, 0);
INSERT INTO spawn_widgets (spawn_id, widget_id, widget_x, widget_y, widget_z, type) VALUES
 (9000004, 80, 1, 1, 1, 'Door');
INSERT INTO npc_appearance (spawn_id, type, red, green, blue) VALUES
 (9000001, 'skin_color', 1, 2, 3), (9000001, 'no_such_color', 4, 5, 6);
INSERT INTO entity_commands (command_list_id, command_text, distance, command) VALUES
 (7, 'Hail', 10, 'hail'), (7, 'Kick It', 2, 'kick');
INSERT INTO transporters (transport_id, destination_zone_id, destination_x, destination_y,
 destination_z, destination_heading) VALUES (55, 900, 11, 12, 13, 14), (55, 901, 0, 0, 0, 0);
INSERT INTO spawn_location_entry (spawn_id, spawn_location_id, spawnpercentage) VALUES
 (9000001, 1, 100), (9000002, 2, 100), (9000003, 3, 100), (9000004, 4, 100),
 (9000005, 5, 30), (9000001, 5, 70);
INSERT INTO spawn_location_placement (id, zone_id, spawn_location_id, x, y, z, heading, grid_id)
 VALUES (1, 900, 1, 1, 2, 3, 45, 123456), (2, 900, 2, 4, 5, 6, 0, 0), (3, 900, 3, 7, 8, 9, 0, 0),
 (4, 900, 4, 1, 1, 1, 0, 0), (5, 901, 5, 2, 2, 2, 0, 0), (6, 900, 99, 0, 0, 0, 0, 0),
 (7, 12345, 1, 0, 0, 0, 0, 0);
"""
WHOLE = ZONES + STARTS + SPAWNS


def world_dump(folder: Path, text: str = WHOLE, name: str = "world.sql") -> Dump:
    """Write a dump and return it; its text is its path."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return Dump(path)
