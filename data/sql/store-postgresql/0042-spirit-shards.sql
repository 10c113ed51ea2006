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

INSERT INTO world_spirit_shards (
    character_id, place, number, zone_id, x, y, z, heading, grid, debt, made
)
SELECT
    world_characters.id, place - 1, place, (shard ->> 0)::bigint, (shard ->> 1)::double precision,
    (shard ->> 2)::double precision, (shard ->> 3)::double precision,
    (shard ->> 4)::double precision, (shard ->> 5)::bigint, (shard ->> 6)::bigint,
    floor(extract(epoch FROM now()))
FROM
    world_characters,
    json_array_elements(world_characters.past::json -> 'shards') WITH ORDINALITY AS one (shard, place)
WHERE world_characters.past LIKE '%"shards":%';
