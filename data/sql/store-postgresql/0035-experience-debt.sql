-- What a character's deaths have cost and is not paid yet, in thousandths of a percent of a level.

ALTER TABLE world_characters ADD COLUMN experience_debt BIGINT NOT NULL DEFAULT 0
    CHECK (experience_debt BETWEEN 0 AND 100000);
