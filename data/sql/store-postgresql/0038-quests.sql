-- Journals of characters: open and completed quests, and the rewards that wait for them.

ALTER TABLE world_characters ADD COLUMN quests TEXT NOT NULL DEFAULT '';  -- a JSON object
