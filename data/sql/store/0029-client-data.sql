-- What clients keep with their characters: macros, fog of maps, slots of spells, and choices.

ALTER TABLE world_characters ADD COLUMN client_data TEXT NOT NULL DEFAULT '';  -- a JSON object
