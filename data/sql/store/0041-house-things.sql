-- Places of things in houses.

CREATE TABLE world_house_things (
    -- Where a thing stands in a house; it counts only while the thing belongs to the house.
    number INTEGER PRIMARY KEY REFERENCES world_things (number) ON DELETE CASCADE,
    house_id INTEGER NOT NULL REFERENCES world_houses (id) ON DELETE CASCADE,
    x REAL NOT NULL,
    y REAL NOT NULL,
    z REAL NOT NULL,
    heading REAL NOT NULL
) STRICT;

CREATE INDEX world_house_things_of_house ON world_house_things (house_id);
