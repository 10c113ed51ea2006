-- What clients and worlds sent for an operator to read. New rows replace the oldest.

CREATE TABLE client_logs (
    -- One row is one log that a client sent.
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,                       -- Crash Log, Verify Log, Alert Log or Base Log
    text TEXT NOT NULL,
    account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
    account_name TEXT NOT NULL,
    address TEXT NOT NULL,
    client_version INTEGER NOT NULL,
    received REAL NOT NULL
) STRICT;

CREATE INDEX client_logs_of_account ON client_logs (account_id);

CREATE TABLE bug_reports (
    -- One row is one report that a player wrote in the game and a world relayed.
    id INTEGER PRIMARY KEY,
    world_id INTEGER REFERENCES worlds (id) ON DELETE SET NULL,
    account_id INTEGER NOT NULL,              -- as the world says; need not exist here
    player TEXT NOT NULL,                     -- the character's name
    category TEXT NOT NULL,
    subcategory TEXT NOT NULL,
    causes_crash TEXT NOT NULL,
    reproducible TEXT NOT NULL,
    summary TEXT NOT NULL,
    description TEXT NOT NULL,
    version TEXT NOT NULL,
    spawn_name TEXT NOT NULL,                 -- what the player had targeted
    spawn_id INTEGER NOT NULL,
    zone_id INTEGER NOT NULL,
    received REAL NOT NULL
) STRICT;

CREATE INDEX bug_reports_of_world ON bug_reports (world_id);
