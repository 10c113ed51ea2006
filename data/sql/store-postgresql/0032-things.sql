-- Things: what owners have. What columns mean stands in the step for SQLite.

CREATE TABLE world_things (
    number BIGINT PRIMARY KEY,
    keeper TEXT COLLATE "C" NOT NULL,
    keeper_id BIGINT NOT NULL,
    list TEXT NOT NULL,
    bag BIGINT NOT NULL,
    slot BIGINT NOT NULL,
    item_id BIGINT NOT NULL,
    count BIGINT NOT NULL CHECK (count > 0),
    condition BIGINT NOT NULL,
    attuned BOOLEAN NOT NULL,
    creator TEXT NOT NULL,
    max_sell_value BIGINT NOT NULL,
    no_sale BOOLEAN NOT NULL,
    created DOUBLE PRECISION NOT NULL
);

CREATE INDEX world_things_of_keeper ON world_things (keeper_id, keeper);

CREATE TABLE world_thing_numbers (name TEXT COLLATE "C" PRIMARY KEY, next BIGINT NOT NULL);

CREATE TABLE world_thing_sums (item_id BIGINT PRIMARY KEY, count BIGINT NOT NULL);
