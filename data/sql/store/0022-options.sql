-- Options that players have switched, and how long characters were played.

ALTER TABLE world_characters ADD COLUMN options TEXT NOT NULL DEFAULT '';    -- words with blanks
ALTER TABLE world_characters ADD COLUMN played INTEGER NOT NULL DEFAULT 0;   -- in seconds
