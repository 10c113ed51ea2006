-- The tradeskill experience of characters: points in the tradeskill level, and those that make the next.

ALTER TABLE world_characters ADD COLUMN tradeskill_experience INTEGER NOT NULL DEFAULT 0
    CHECK (tradeskill_experience BETWEEN 0 AND 4294967295);
ALTER TABLE world_characters ADD COLUMN tradeskill_needed INTEGER NOT NULL DEFAULT 0
    CHECK (tradeskill_needed BETWEEN 0 AND 4294967295);
