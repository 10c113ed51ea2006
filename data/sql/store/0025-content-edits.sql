-- Changes of the content file that game masters made in the game.

CREATE TABLE content_edits (
    -- One row is a new value of one column of a placement, a spawn or a group.
    subject TEXT NOT NULL,                     -- placement, spawn or group
    number INTEGER NOT NULL,                   -- its number in the content file, or an own one
    name TEXT NOT NULL,                        -- the column
    value TEXT NOT NULL,                       -- the new value as JSON
    old TEXT NOT NULL,                         -- the content file's value then, as JSON
    author TEXT NOT NULL,
    changed REAL NOT NULL,
    PRIMARY KEY (subject, number, name)
) STRICT, WITHOUT ROWID;
