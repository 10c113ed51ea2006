-- Where things stand in houses. What columns mean stands in the step for SQLite.

CREATE TABLE world_house_things (
    number BIGINT PRIMARY KEY REFERENCES world_things (number) ON DELETE CASCADE,
    house_id BIGINT NOT NULL REFERENCES world_houses (id) ON DELETE CASCADE,
    x DOUBLE PRECISION NOT NULL,
    y DOUBLE PRECISION NOT NULL,
    z DOUBLE PRECISION NOT NULL,
    heading DOUBLE PRECISION NOT NULL
);

CREATE INDEX world_house_things_of_house ON world_house_things (house_id);
