-- What is dead in the zones of the content file, and until when.

CREATE TABLE dead_spawns (
    -- One row is a placement at which nothing stands because something died there.
    zone_id INTEGER NOT NULL,
    instance INTEGER NOT NULL,
    placement_id INTEGER NOT NULL,             -- number in EQ2Emulator's database
    returns REAL,                              -- time at which it returns; NULL: never
    PRIMARY KEY (zone_id, instance, placement_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX dead_spawns_returns ON dead_spawns (returns);
