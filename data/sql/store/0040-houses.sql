-- Houses that characters own: the deposit from which upkeep is paid, and who may enter.

CREATE TABLE world_houses (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner_id INTEGER NOT NULL REFERENCES world_characters (id) ON DELETE CASCADE,
    home INTEGER NOT NULL,                    -- which house it is, in the content file
    bought REAL NOT NULL,
    upkeep_due REAL NOT NULL,                 -- until then its upkeep is paid
    coins INTEGER NOT NULL DEFAULT 0 CHECK (coins >= 0),  -- the deposit; moves by the ledger
    ledger_revision INTEGER NOT NULL DEFAULT 0,
    status INTEGER NOT NULL DEFAULT 0 CHECK (status >= 0),  -- the deposit of status points
    public_level INTEGER NOT NULL,            -- the access level of those without one of their own
    UNIQUE (owner_id, home)
) STRICT;

CREATE INDEX world_houses_of_home ON world_houses (home, owner_id);

CREATE TABLE world_house_access (
    -- The access levels of single characters.
    house_id INTEGER NOT NULL REFERENCES world_houses (id) ON DELETE CASCADE,
    char_id INTEGER NOT NULL REFERENCES world_characters (id) ON DELETE CASCADE,
    level INTEGER NOT NULL,
    PRIMARY KEY (house_id, char_id)
) STRICT;

CREATE INDEX world_house_access_of_character ON world_house_access (char_id);

CREATE TABLE world_house_deposits (
    -- What each character has put into the deposit of a house.
    house_id INTEGER NOT NULL REFERENCES world_houses (id) ON DELETE CASCADE,
    name TEXT NOT NULL,                       -- the character's name then
    coins INTEGER NOT NULL,
    status INTEGER NOT NULL,
    last_coins INTEGER NOT NULL,
    last_status INTEGER NOT NULL,
    moment REAL NOT NULL,                     -- of the last one
    PRIMARY KEY (house_id, name)
) STRICT;

CREATE TABLE world_house_history (
    -- The upkeep that was paid for a house.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    house_id INTEGER NOT NULL REFERENCES world_houses (id) ON DELETE CASCADE,
    name TEXT NOT NULL,                       -- of the character that paid; empty: the deposit did
    coins INTEGER NOT NULL,
    status INTEGER NOT NULL,
    reason TEXT NOT NULL,
    moment REAL NOT NULL
) STRICT;

CREATE INDEX world_house_history_of_house ON world_house_history (house_id, id);
