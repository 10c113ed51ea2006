-- Acts of operators, also refused ones: who did what to whom, by which way, and why.

CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    moment REAL NOT NULL,
    who TEXT NOT NULL,
    way TEXT NOT NULL,                        -- game, console, rcon, web, ggmp with an address; emu
    command TEXT NOT NULL,                    -- its name: account ban
    kind TEXT NOT NULL,                       -- of the changed thing: account, character, server ...
    name TEXT NOT NULL,                       -- of the changed thing; empty: there is only one
    name_key TEXT NOT NULL,                   -- the name without case
    old_value TEXT NOT NULL,
    new_value TEXT NOT NULL,
    reason TEXT NOT NULL,
    result TEXT NOT NULL,
    ok INTEGER NOT NULL CHECK (ok IN (0, 1))                       -- 0: refused or failed
) STRICT;

CREATE INDEX audit_of_name ON audit (name_key, kind);
CREATE INDEX audit_of_moment ON audit (moment);
