-- What a character of the built-in world has besides itself: titles, what stands on its hotbars, the
-- channels it is in. And the part of its zone it was in: the number that clients name with a place.

ALTER TABLE world_characters ADD COLUMN grid INTEGER NOT NULL DEFAULT 0;
ALTER TABLE world_characters ADD COLUMN prefix TEXT NOT NULL DEFAULT '';  -- title it bears in front
ALTER TABLE world_characters ADD COLUMN suffix TEXT NOT NULL DEFAULT '';  -- and behind its name

CREATE TABLE world_titles (
    -- One row is a title that a character was given, whether or not it bears it.
    character_id INTEGER NOT NULL REFERENCES world_characters (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,                                   -- where it stands on the list
    title TEXT NOT NULL,
    is_prefix INTEGER NOT NULL CHECK (is_prefix IN (0, 1)),   -- 1: borne before the name
    PRIMARY KEY (character_id, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE world_hotkeys (
    -- One row is a slot of a hotbar with something in it, in the client's own words.
    character_id INTEGER NOT NULL REFERENCES world_characters (id) ON DELETE CASCADE,
    bar INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    type INTEGER NOT NULL,                                    -- 1 spell, 2 item, 3 macro, 4 command
    icon INTEGER NOT NULL,
    icon_type INTEGER NOT NULL,
    ability INTEGER NOT NULL,                                 -- number of the spell or the item
    tier INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (character_id, bar, slot)
) STRICT, WITHOUT ROWID;

CREATE TABLE world_memberships (
    -- One row is a channel of players that a character is in, with the password it was entered by.
    character_id INTEGER NOT NULL REFERENCES world_characters (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    channel TEXT NOT NULL,
    password TEXT NOT NULL,
    PRIMARY KEY (character_id, place)
) STRICT, WITHOUT ROWID;
