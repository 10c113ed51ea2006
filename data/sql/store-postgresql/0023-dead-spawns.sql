-- What is dead in the zones of the content file, as the step for SQLite describes it.

CREATE TABLE dead_spawns (
    zone_id BIGINT NOT NULL,
    instance BIGINT NOT NULL,
    placement_id BIGINT NOT NULL,
    returns DOUBLE PRECISION,
    PRIMARY KEY (zone_id, instance, placement_id)
);

CREATE INDEX dead_spawns_returns ON dead_spawns (returns);
