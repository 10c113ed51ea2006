-- The coins that characters have in the bank. They move by the ledger, as those of the purse; who
-- has never used the bank has no row.

CREATE TABLE world_banks (
    id INTEGER PRIMARY KEY,                   -- the character
    coins INTEGER NOT NULL DEFAULT 0 CHECK (coins >= 0),
    ledger_revision INTEGER NOT NULL DEFAULT 0
) STRICT;
