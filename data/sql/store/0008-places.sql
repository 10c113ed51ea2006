-- Where a character of the built-in world was when it was last saved; NULL: at the zone's safe place.

ALTER TABLE world_characters ADD COLUMN x REAL;
ALTER TABLE world_characters ADD COLUMN y REAL;
ALTER TABLE world_characters ADD COLUMN z REAL;
ALTER TABLE world_characters ADD COLUMN heading REAL;  -- degrees
