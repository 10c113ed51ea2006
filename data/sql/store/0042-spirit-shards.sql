-- Spirit shards of characters.

CREATE TABLE world_spirit_shards (
    -- One row is a shard that a character has left where it died.
    character_id INTEGER NOT NULL REFERENCES world_characters (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,   -- the first death first
    number INTEGER NOT NULL,
    zone_id INTEGER NOT NULL,
    x REAL NOT NULL,
    y REAL NOT NULL,
    z REAL NOT NULL,
    heading REAL NOT NULL,
    grid INTEGER NOT NULL,
    debt INTEGER NOT NULL,  -- in thousandths of a percent of a level
    made REAL NOT NULL,     -- when the character died, in seconds since 1970
    PRIMARY KEY (character_id, place)
) STRICT, WITHOUT ROWID;

-- Until now they were in the JSON text of the past, without a number and a time.
INSERT INTO world_spirit_shards (
    character_id, place, number, zone_id, x, y, z, heading, grid, debt, made
)
SELECT
    owner.id, shard.key, shard.key + 1,
    CAST(json_extract(shard.value, '$[0]') AS INTEGER),
    CAST(json_extract(shard.value, '$[1]') AS REAL),
    CAST(json_extract(shard.value, '$[2]') AS REAL),
    CAST(json_extract(shard.value, '$[3]') AS REAL),
    CAST(json_extract(shard.value, '$[4]') AS REAL),
    CAST(json_extract(shard.value, '$[5]') AS INTEGER),
    CAST(json_extract(shard.value, '$[6]') AS INTEGER),
    CAST(strftime('%s', 'now') AS INTEGER)
FROM
    world_characters AS owner,
    json_each(CASE WHEN json_valid(owner.past) THEN owner.past ELSE '{}' END, '$.shards') AS shard
WHERE json_array_length(shard.value) = 7;
