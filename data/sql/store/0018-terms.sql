-- Which process plays a character. Each process that lets the character in raises its term, and a
-- save with another term than the stored one changes nothing.

ALTER TABLE world_characters ADD COLUMN holder TEXT NOT NULL DEFAULT '';   -- name of the last node
ALTER TABLE world_characters ADD COLUMN term INTEGER NOT NULL DEFAULT 0;

CREATE TABLE handoff_keys (
    -- One row is an unused world key: it admits one character of one account. Rows of a server that
    -- is the only one of its world are in its memory instead.
    key INTEGER PRIMARY KEY,                  -- u32, never 0
    account_id INTEGER NOT NULL,
    character_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    rank INTEGER NOT NULL,                    -- the character's rank when the key was issued
    entry INTEGER NOT NULL,                   -- 0 login, 1 and 2 from another zone
    ends REAL NOT NULL                        -- when it is too old, unix seconds
) STRICT;

CREATE INDEX handoff_keys_of_account ON handoff_keys (account_id);
CREATE INDEX handoff_keys_end ON handoff_keys (ends);
