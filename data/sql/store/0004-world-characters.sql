-- The built-in world's own characters. Accounts are those of the login server it registers with,
-- which need not be this one, so account ids are plain numbers here.

CREATE TABLE world_characters (
    -- One row is one character of the built-in world; its id is the char_id everybody else sees.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL UNIQUE,            -- without regard to case; deleted names stay taken
    race INTEGER NOT NULL,
    class INTEGER NOT NULL,
    gender INTEGER NOT NULL,
    deity INTEGER NOT NULL,
    level INTEGER NOT NULL,
    starting_zone INTEGER NOT NULL,           -- what the player chose when making the character
    zone_id INTEGER NOT NULL,                 -- where the character is
    client_version INTEGER NOT NULL,          -- version that made it
    created REAL NOT NULL,
    last_played REAL NOT NULL DEFAULT 0,
    admin_status INTEGER NOT NULL DEFAULT 0,  -- -2 banned for ever, -1 banned, 0 player, 100 and up
                                              -- game master
    deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1))
) STRICT;

CREATE INDEX world_characters_of_account ON world_characters (account_id);

CREATE TABLE world_character_appearance (
    -- One row is a field of the create request: the file name of a model, or a number.
    character_id INTEGER NOT NULL REFERENCES world_characters (id) ON DELETE CASCADE,
    field TEXT NOT NULL,
    value ANY NOT NULL,
    PRIMARY KEY (character_id, field)
) STRICT, WITHOUT ROWID;

CREATE TABLE world_character_colors (
    -- One row is a color or a slider of the create request.
    character_id INTEGER NOT NULL REFERENCES world_characters (id) ON DELETE CASCADE,
    field TEXT NOT NULL,
    red INTEGER NOT NULL,
    green INTEGER NOT NULL,
    blue INTEGER NOT NULL,
    signed INTEGER NOT NULL CHECK (signed IN (0, 1)),  -- 1: parts are -128..127
    PRIMARY KEY (character_id, field)
) STRICT, WITHOUT ROWID;
