-- Options of players and the time played, as the step for SQLite describes them.

ALTER TABLE world_characters ADD COLUMN options TEXT NOT NULL DEFAULT '';
ALTER TABLE world_characters ADD COLUMN played BIGINT NOT NULL DEFAULT 0;
