-- Spirit shards of characters. What columns mean stands in the step for SQLite.

CREATE TABLE world_spirit_shards (
    character_id BIGINT NOT NULL REFERENCES world_characters (id) ON DELETE CASCADE,
    place BIGINT NOT NULL,
    number BIGINT NOT NULL,
    zone_id BIGINT NOT NULL,
    x DOUBLE PRECISION NOT NULL,
    y DOUBLE PRECISION NOT NULL,
    z DOUBLE PRECISION NOT NULL,
    heading DOUBLE PRECISION NOT NULL,
    grid BIGINT NOT NULL,
    debt BIGINT NOT NULL,
    made DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (character_id, place)
);
