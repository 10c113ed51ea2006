-- What the behaviors of spawns and zones remember.

CREATE TABLE spawn_memories (
    -- One row is the memory of a spawn, or what it remembers of one character.
    zone_id INTEGER NOT NULL,
    spawn TEXT NOT NULL,                       -- key of the spawn in its zone; '' the zone's own
    character_id INTEGER REFERENCES world_characters (id) ON DELETE CASCADE,  -- NULL: of nobody
    entries TEXT NOT NULL,                     -- a JSON object
    changed REAL NOT NULL                      -- time of the last change
) STRICT;

CREATE UNIQUE INDEX spawn_memories_key
    ON spawn_memories (zone_id, spawn, coalesce(character_id, 0));
CREATE INDEX spawn_memories_character ON spawn_memories (character_id);
