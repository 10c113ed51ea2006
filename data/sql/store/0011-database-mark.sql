-- What the server that uses the file writes, to recognise the content later. A file that was put in
-- the place of the server's, or copied over it, holds another mark, an older one or none.

CREATE TABLE database_mark (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    run TEXT NOT NULL,
    -- A random word of each start of a server.
    turn INTEGER NOT NULL
    -- Counts the checkpoints of that run.
) STRICT;
