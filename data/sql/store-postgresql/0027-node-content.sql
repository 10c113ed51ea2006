-- The digest of a node's content file, as the step for SQLite describes it.

ALTER TABLE nodes ADD COLUMN content TEXT NOT NULL DEFAULT '';
