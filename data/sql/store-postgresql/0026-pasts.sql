-- What characters have been through: their standing with factions, and what scripts note of them.

ALTER TABLE world_characters ADD COLUMN past TEXT NOT NULL DEFAULT '';  -- a JSON object
