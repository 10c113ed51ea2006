-- Which save of a character is stored. A save carries a number, and one that is not greater than the
-- stored number changes nothing: an older state never replaces a newer one.

ALTER TABLE world_characters ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
