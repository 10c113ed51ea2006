-- Guilds of the built-in world.

CREATE TABLE guilds (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL UNIQUE,
    motd TEXT NOT NULL DEFAULT '',
    formed REAL NOT NULL,                      -- unix seconds
    revision INTEGER NOT NULL DEFAULT 1        -- grows with every change of the guild or its members
) STRICT;

CREATE TABLE guild_ranks (
    guild_id INTEGER NOT NULL REFERENCES guilds (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,                    -- 0 is the leader's
    name TEXT NOT NULL,
    permissions INTEGER NOT NULL,              -- as bits; docs/protocol/world/guilds.md#ranks
    PRIMARY KEY (guild_id, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE guild_members (
    -- One row is a member. Its key is the character: nobody is in two guilds.
    character_id INTEGER PRIMARY KEY REFERENCES world_characters (id) ON DELETE CASCADE,
    guild_id INTEGER NOT NULL REFERENCES guilds (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,                    -- of its rank
    joined REAL NOT NULL,                      -- unix seconds
    note TEXT NOT NULL DEFAULT '',
    officer_note TEXT NOT NULL DEFAULT '',
    flags INTEGER NOT NULL DEFAULT 2           -- as bits; 2: is shown who comes and goes
) STRICT;

CREATE INDEX guild_members_guild ON guild_members (guild_id);
