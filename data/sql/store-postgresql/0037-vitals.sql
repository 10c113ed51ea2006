-- Vitality in thousandths of a percent of a level, and up to when it has grown; health and power, -1
-- for all of it. A character with health 0 is dead.

ALTER TABLE world_characters ADD COLUMN vitality BIGINT NOT NULL DEFAULT 0
    CHECK (vitality BETWEEN 0 AND 100000);
ALTER TABLE world_characters ADD COLUMN health BIGINT NOT NULL DEFAULT -1
    CHECK (health BETWEEN -1 AND 2147483647);
ALTER TABLE world_characters ADD COLUMN power BIGINT NOT NULL DEFAULT -1
    CHECK (power BETWEEN -1 AND 2147483647);
ALTER TABLE world_characters ADD COLUMN rested DOUBLE PRECISION NOT NULL DEFAULT 0;
