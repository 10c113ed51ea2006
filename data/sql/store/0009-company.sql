-- Whom characters of the built-in world know, and who may not speak.

CREATE TABLE world_relations (
    -- One row is a name on a character's list of friends or ignored ones.
    character_id INTEGER NOT NULL REFERENCES world_characters (id) ON DELETE CASCADE,
    kind INTEGER NOT NULL CHECK (kind IN (0, 2)),  -- 0 friend, 2 ignored, as clients number them
    place INTEGER NOT NULL,                        -- where it stands on the list
    name TEXT NOT NULL,
    PRIMARY KEY (character_id, kind, place)
) STRICT, WITHOUT ROWID;

ALTER TABLE world_characters ADD COLUMN muted_until REAL NOT NULL DEFAULT 0;  -- unix seconds
