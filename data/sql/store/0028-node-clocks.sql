-- How far the clock of a node's machine is off: such a node takes no zones.

ALTER TABLE nodes ADD COLUMN clock_ahead REAL NOT NULL DEFAULT 0;    -- in seconds; 0: it is right
