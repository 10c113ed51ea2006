-- Bind places, discoveries and instances of characters, as the step for SQLite describes them.

ALTER TABLE world_characters ADD COLUMN travels TEXT NOT NULL DEFAULT '';
