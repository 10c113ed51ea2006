"""Small dumps of loot, merchants, spells, quests and recipes, with the odd cases of each."""

from typing import Any

Tables = dict[str, list[dict[str, Any]]]


def trade() -> Tables:
    """Return two loot tables, the tables of many NPCs, and a merchant with two lists."""
    ware = {"quantity": 255}
    return {
        "spawn": [
            {"id": 90001, "name": "a guard", "merchant_id": 7},
            {"id": 90002, "name": "a rat", "merchant_id": 0},
        ],
        "spawn_npcs": [
            {"id": 1, "spawn_id": 90001, "spell_list_id": 4}, {"id": 2, "spawn_id": 90002},
        ],
        "spawn_loot": [
            {"id": 1, "spawn_id": 90001, "loottable_id": 3},
            {"id": 2, "spawn_id": 90001, "loottable_id": 2},
        ],
        "loottable": [
            {"id": 2, "name": "crossed", "mincoin": 50, "maxcoin": 5, "maxlootitems": 1,
             "lootdrop_probability": 6, "coin_probability": 100},
            {"id": 3, "name": "empty", "mincoin": 0, "maxcoin": 0, "maxlootitems": 0},
        ],
        "lootdrop": [
            {"id": 1, "loot_table_id": 2, "item_id": 501, "item_charges": 0, "equip_item": 1,
             "probability": 30},
            {"id": 2, "loot_table_id": 2, "item_id": 502, "item_charges": 5,
             "probability": 120, "no_drop_quest_completed": 8},
        ],
        "loot_global": [
            {"id": 1, "type": "Level", "loot_table": 2, "value1": 5, "value2": 9, "value4": 0},
            {"id": 2, "type": "Zone", "loot_table": 3, "value1": 12, "value2": 0, "value3": 0},
            {"id": 3, "type": "Racial", "loot_table": 2, "value1": 300, "value2": 8,
             "value3": 2, "value4": 3},
        ],
        "merchants": [
            {"id": 1, "merchant_id": 7, "inventory_id": 70, "description": "A Smith"},
            {"id": 2, "merchant_id": 7, "inventory_id": 71, "description": "A Smith"},
            {"id": 3, "merchant_id": 8, "inventory_id": 72, "description": "Nothing"},
            {"id": 4, "merchant_id": 6, "inventory_id": 70, "description": "A Peddler"},
            {"id": 5, "merchant_id": 6, "inventory_id": 73, "description": "A Peddler"},
        ],
        "merchant_inventory": [
            {**ware, "id": 1, "inventory_id": 70, "item_id": 501, "price_coins": 100},
            {**ware, "id": 2, "inventory_id": 70, "item_id": 501, "price_coins": 900},
            {**ware, "id": 3, "inventory_id": 70, "item_id": 502, "quantity": 2,
             "price_item_id": 601, "price_item_qty": 3, "price_item2_id": 602},
            {**ware, "id": 4, "inventory_id": 70, "item_id": 503, "price_stationcash": 950},
            {**ware, "id": 5, "inventory_id": 71, "item_id": 504, "price_status": 40},
            {**ware, "id": 6, "inventory_id": 73, "item_id": 501, "price_coins": 70},
        ],
        "items": [
            {"id": 501, "name": "a rusty sword"}, {"id": 502, "name": "a ring"},
            {"id": 503, "name": "a hat"}, {"id": 504, "name": "a cape"},
            {"id": 601, "name": "a token"},
        ],
        "item_details_weapon": [{"id": 1, "item_id": 501, "dmg_low": 2, "dmg_high": 7}],
        "spawn_npc_spells": [
            {"id": 1, "spell_list_id": 4, "spell_id": 11, "spell_tier": 2, "on_aggro_cast": 1},
        ],
        "spells": [{"id": 11, "name": "Smite"}],
    }  # fmt: skip


def knowledge() -> Tables:
    """Return a spell of two tiers, a quest with odd details, and a recipe with its book."""
    recipe = {"bHaveAllProducts": 1, "level": 4}
    return {
        "spells": [{"id": 11, "name": "Smite", "is_active": 1, "lua_script": "Spells/smite.lua"}],
        "spell_tiers": [
            {"id": 1, "spell_id": 11, "tier": 1, "cast_time": 200, "power_req": 7.5},
            {"id": 2, "spell_id": 11, "tier": 2, "cast_time": 150, "power_req": 9},
            {"id": 3, "spell_id": 11, "tier": 2, "cast_time": 999, "power_req": 9},
        ],
        "spell_data": [
            {"id": 1, "spell_id": 11, "tier": 1, "index_field": 1, "value_type": "FLOAT",
             "value": "2.5"},
            {"id": 2, "spell_id": 11, "tier": 1, "index_field": 0, "value_type": "INT",
             "value": "12"},
            {"id": 3, "spell_id": 11, "tier": 1, "index_field": 2, "value_type": "STRING",
             "value": "Stunned"},
            {"id": 4, "spell_id": 11, "tier": 1, "index_field": 3, "value_type": "BOOL",
             "value": "true"},
            {"id": 5, "spell_id": 11, "tier": 1, "index_field": 4, "value_type": "INT",
             "value": "many"},
        ],
        "spell_display_effects": [
            {"id": 1, "spell_id": 11, "tier": 1, "percentage": 100, "description": "second",
             "index": 1},
            {"id": 2, "spell_id": 11, "tier": 1, "percentage": 100, "description": "first",
             "index": 0},
        ],
        "spell_classes": [{"id": 1, "spell_id": 11, "adventure_class_id": 13, "level": 5}],
        "spawn_npc_spells": [
            {"id": 1, "spell_list_id": 4, "spell_id": 11, "spell_tier": 2, "on_aggro_cast": 1},
            {"id": 2, "spell_list_id": 4, "spell_id": 99, "spell_tier": 1, "on_spawn_cast": 1},
        ],
        "quests": [{"quest_id": 8, "name": "The Well", "lua_script": "Quests/well.lua"}],
        "quest_details": [
            {"id": 1, "quest_id": 8, "type": "Prereq", "subtype": "AdvLevel", "value": 5},
            {"id": 2, "quest_id": 8, "type": "Prereq", "subtype": "Coin", "value": 5},
            {"id": 3, "quest_id": 8, "type": "Reward", "subtype": "Coin", "value": 70},
            {"id": 4, "quest_id": 8, "type": "Reward", "subtype": "AdvLevel", "value": 9},
            {"id": 5, "quest_id": 8, "type": "None", "subtype": "None", "value": 9},
            {"id": 6, "quest_id": 8, "type": "Reward", "subtype": "Faction", "value": 50,
             "faction_id": 11},
            {"id": 7, "quest_id": 8, "type": "Reward", "subtype": "Faction", "value": 50},
        ],
        "recipe": [
            {**recipe, "id": 21, "soe_id": 2100, "name": "bread", "primary_comp_list": 31,
             "primary_comp_qty": 2, "fuel_comp_list": 32, "fuel_comp_qty": 1,
             "stage0_id": 0, "stage4_id": 701, "stage4_qty": 3, "stage4_byp_id": 702,
             "stage4_byp_qty": 1},
            {**recipe, "id": 22, "soe_id": 2200, "name": "cake", "primary_comp_list": 33,
             "primary_comp_qty": 1},
            {**recipe, "id": 23, "soe_id": 2300, "name": "stew", "primary_comp_list": 31,
             "primary_comp_qty": 1, "bHaveAllProducts": 0},
        ],
        "recipe_secondary_comp": [
            {"id": 1, "recipe_id": 21, "index": 1, "comp_list": 33, "qty": 99999},
            {"id": 2, "recipe_id": 21, "index": 0, "comp_list": 32, "qty": 4},
        ],
        "recipe_comp_list": [
            {"id": 31, "name": "flour"}, {"id": 32, "name": "coal"},
            {"id": 33, "name": "sugar", "bEmpty": 1},
        ],
        "recipe_comp_list_item": [
            {"id": 1, "comp_list": 31, "item_id": 801}, {"id": 2, "comp_list": 31, "item_id": 802},
            {"id": 3, "comp_list": 32, "item_id": 803},
        ],
        "item_details_recipe": [{"id": 1, "item_id": 900, "recipe_id": 900}],
        "item_details_recipe_items": [
            {"id": 1, "recipe_id": 900, "name": "bread", "soe_recipe_crc": 2100},
            {"id": 2, "recipe_id": 900, "name": "stew", "soe_recipe_crc": 2300},
            {"id": 3, "recipe_id": 900, "name": "gone", "soe_recipe_crc": 5},
        ],
    }  # fmt: skip


def others() -> Tables:
    """Return one row of each subject that needs no readers of its own."""
    return {
        "collections": [{"id": 1, "collection_name": "Leaves", "level": 5}],
        "collection_details": [{"id": 1, "collection_id": 1, "item_id": 501, "item_index": 2}],
        "collection_rewards": [
            {"id": 1, "collection_id": 1, "reward_type": "Coin", "reward_value": 90},
        ],
        "achievements": [{"id": 1, "achievement_id": 60, "title": "Walker", "point_value": 5}],
        "achievements_requirements": [
            {"id": 1, "achievement_id": 60, "name": "Walk", "qty_req": 3},
        ],
        "achievements_rewards": [{"id": 1, "achievement_id": 60, "reward": "a hat"}],
        "houses": [{"id": 2, "name": "Inn Chamber", "cost_coins": 500, "zone_id": 9}],
        "factions": [{"id": 11, "name": "Guards", "type": "City", "default_level": -500}],
        "heroic_ops": [{"id": 3, "ho_type": "Wheel", "name": "Storm", "chance": 0.5}],
        "groundspawns": [{"id": 1, "groundspawn_id": 6, "tablename": "roots", "harvest1": 70}],
        "groundspawn_items": [{"id": 1, "groundspawn_id": 6, "item_id": 501, "is_rare": 1}],
        "transmuting": [{"tier_id": 1, "min_level": 1, "max_level": 9, "fragment": 501}],
        "skills": [{"id": 613, "short_name": "slash", "name": "Slashing", "skill_type": 1}],
        "languages": [{"id": 3, "language": "Erudian"}],
        "titles": [{"id": 4, "title": "the Bold", "prefix": 0}],
        "exp_per_level": [{"level": 2, "exp_needed": 440}],
        "starting_details": [{"id": 1, "race_id": 9, "class_id": 255, "max_hp": 40, "str": 15}],
        "starting_items": [
            {"id": 1, "class_id": 1, "race_id": 255, "type": "EQUIPPED", "item_id": 501},
        ],
        "starting_spells": [{"id": 1, "race_id": 255, "class_id": 1, "spell_id": 11}],
        "starting_skills": [{"id": 1, "race_id": 255, "class_id": 1, "skill_id": 613}],
        "starting_skillbar": [{"id": 1, "race_id": 255, "class_id": 1, "spell_id": 11, "slot": 2}],
        "starting_titles": [{"id": 1, "race_id": 255, "class_id": 1, "title_id": 4}],
        "starting_languages": [{"id": 1, "race": 3, "starting_city": 1, "language_id": 3}],
        "starting_factions": [{"id": 1, "starting_city": 1, "faction_id": 11, "value": 40000}],
        "rulesets": [{"id": 1, "ruleset_id": 1, "ruleset_name": "default", "ruleset_active": 1}],
        "ruleset_details": [
            {"id": 1, "ruleset_id": 1, "rule_category": "R_World", "rule_type": "DeathXPDebt",
             "rule_value": "10"},
        ],
        "variables": [{"variable_name": "motd", "variable_value": "Welcome", "comment": ""}],
        "channels": [{"id": 1, "name": "Auction", "level_restriction": 5}],
        "commands": [{"id": 1, "command": "who", "subcommand": "", "required_status": 10}],
        "claim_items": [{"id": 1, "item_id": 501, "max_claim": 1, "veteran_reward_time": 86400}],
        "map_data": [
            {"id": 1, "map_id": 2, "zone_name": "meadow", "highest": 9.5,
             "explored_key": 18446744073709551615},
        ],
        "flight_paths": [{"id": 5, "zone_id": 9, "name": "To the Hill", "speed": 1.5}],
        "flight_paths_locations": [{"id": 1, "flight_path": 5, "x": 1, "y": 2, "z": 3}],
        "itemstats": [
            {"id": 1, "version_range1": 0, "version_range2": 546, "emu_stat": 600, "stat": 12},
        ],
    }  # fmt: skip
