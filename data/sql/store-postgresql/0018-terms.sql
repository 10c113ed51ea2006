-- Which process plays a character; the step for SQLite describes it.

ALTER TABLE world_characters ADD COLUMN holder TEXT NOT NULL DEFAULT '';
ALTER TABLE world_characters ADD COLUMN term BIGINT NOT NULL DEFAULT 0;

-- Unlogged: its rows live for a minute, and after a crash of the database players log in again.
CREATE UNLOGGED TABLE handoff_keys (
    key BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL,
    character_id BIGINT NOT NULL,
    name TEXT NOT NULL,
    rank BIGINT NOT NULL,
    entry BIGINT NOT NULL,
    ends DOUBLE PRECISION NOT NULL
);

CREATE INDEX handoff_keys_of_account ON handoff_keys (account_id);
CREATE INDEX handoff_keys_end ON handoff_keys (ends);
