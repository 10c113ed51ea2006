-- How far a node's clock is off, as the step for SQLite describes it.

ALTER TABLE nodes ADD COLUMN clock_ahead DOUBLE PRECISION NOT NULL DEFAULT 0;
