-- The coins that characters have in the bank. What columns mean stands in the step for SQLite.

CREATE TABLE world_banks (
    id BIGINT PRIMARY KEY,
    coins BIGINT NOT NULL DEFAULT 0 CHECK (coins >= 0),
    ledger_revision BIGINT NOT NULL DEFAULT 0
);
