-- Where characters are bound, what they have discovered, and the instances that they may enter again.

ALTER TABLE world_characters ADD COLUMN travels TEXT NOT NULL DEFAULT '';    -- JSON; empty for none
