-- What players ask the operators of the built-in world, or report to them, and the answers.

CREATE TABLE world_petitions (
    -- One row is a petition or a report of one player.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL,
    character_id INTEGER REFERENCES world_characters (id) ON DELETE SET NULL,  -- NULL: removed
    player TEXT NOT NULL,                     -- the character's name when it wrote
    kind TEXT NOT NULL,                       -- petition, bug, abuse, typo, feedback or spam
    text TEXT NOT NULL,
    place TEXT NOT NULL,                      -- zone and place where the player was
    opened REAL NOT NULL,
    answer TEXT NOT NULL DEFAULT '',
    operator TEXT NOT NULL DEFAULT '',        -- who answered or closed it
    answered REAL,                            -- NULL: no answer
    closed REAL,                              -- NULL: open
    is_seen INTEGER NOT NULL DEFAULT 1 CHECK (is_seen IN (0, 1))  -- 0: the player waits for it
) STRICT;

CREATE INDEX world_petitions_open ON world_petitions (closed, id);
CREATE INDEX world_petitions_of_account ON world_petitions (account_id, opened);
CREATE INDEX world_petitions_of_character ON world_petitions (character_id, is_seen);
