-- The login server's copy of every character, for the character list. The world owns the character.

CREATE TABLE characters (
    -- One row is one character on one world.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    world_id INTEGER NOT NULL REFERENCES worlds (id),
    char_id INTEGER NOT NULL,                 -- the character's id on its world
    name TEXT NOT NULL,
    race INTEGER NOT NULL DEFAULT 0,
    class INTEGER NOT NULL DEFAULT 0,
    gender INTEGER NOT NULL DEFAULT 0,
    deity INTEGER NOT NULL DEFAULT 0,
    level INTEGER NOT NULL DEFAULT 1,
    tradeskill_class INTEGER NOT NULL DEFAULT 0,
    tradeskill_level INTEGER NOT NULL DEFAULT 0,
    zone_id INTEGER NOT NULL DEFAULT 0,       -- a zone of world_zones, when the world described it
    zone_name TEXT NOT NULL DEFAULT '',       -- the zone's file name
    zone_description TEXT NOT NULL DEFAULT '',
    created REAL NOT NULL DEFAULT 0,
    last_played REAL NOT NULL DEFAULT 0,
    client_version INTEGER NOT NULL DEFAULT 0,  -- version that made it; decides how colors are coded
    deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1))  -- 1: no longer listed
) STRICT;

-- A world's character is listed once, and never twice.
CREATE UNIQUE INDEX characters_alive ON characters (world_id, char_id) WHERE NOT deleted;
CREATE INDEX characters_of_account ON characters (account_id);

CREATE TABLE character_appearance (
    -- One row is a number of a character's looks: a model id, or body_size.
    character_id INTEGER NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
    field TEXT NOT NULL,                      -- CharSelectProfile field name, such as race_type
    value INTEGER NOT NULL,
    PRIMARY KEY (character_id, field)
) STRICT, WITHOUT ROWID;

CREATE TABLE character_colors (
    -- One row is a color or a slider of a character's looks.
    character_id INTEGER NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
    field TEXT NOT NULL,                      -- CharSelectProfile field name, such as hair_color1
    red INTEGER NOT NULL,
    green INTEGER NOT NULL,
    blue INTEGER NOT NULL,
    signed INTEGER NOT NULL CHECK (signed IN (0, 1)),  -- 1: parts are -128..127 (clients up to 561)
    PRIMARY KEY (character_id, field)
) STRICT, WITHOUT ROWID;

CREATE TABLE character_equipment (
    -- One row is what an equipment slot shows in the character list.
    character_id INTEGER NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
    slot INTEGER NOT NULL,
    model INTEGER NOT NULL,                   -- 0 is an empty slot
    red INTEGER NOT NULL,
    green INTEGER NOT NULL,
    blue INTEGER NOT NULL,
    highlight_red INTEGER NOT NULL,
    highlight_green INTEGER NOT NULL,
    highlight_blue INTEGER NOT NULL,
    PRIMARY KEY (character_id, slot)
) STRICT, WITHOUT ROWID;
