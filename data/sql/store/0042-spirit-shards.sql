-- Spirit shards of characters.

CREATE TABLE world_spirit_shards (
    -- One row is a shard that a character has left where it died.
    character_id INTEGER NOT NULL REFERENCES world_characters (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,   -- the first death first
    number INTEGER NOT NULL,
    zone_id INTEGER NOT NULL,
    x REAL NOT NULL,
    y REAL NOT NULL,
    z REAL NOT NULL,
    heading REAL NOT NULL,
    grid INTEGER NOT NULL,
    debt INTEGER NOT NULL,  -- in thousandths of a percent of a level
    made REAL NOT NULL,     -- when the character died, in seconds since 1970
    PRIMARY KEY (character_id, place)
) STRICT, WITHOUT ROWID;
