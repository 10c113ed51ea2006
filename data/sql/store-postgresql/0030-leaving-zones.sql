-- What a node still runs after it was placed elsewhere, as the step for SQLite describes it.

ALTER TABLE nodes ADD COLUMN leaving TEXT NOT NULL DEFAULT '';
