-- The ledger: everything that moves between owners. A movement and the balances that it changes are
-- one transaction.

CREATE TABLE world_ledger (
    -- One row is a part of a movement. Rows are added, and removed when they are old, never changed.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    request TEXT NOT NULL,                    -- the movement; it is carried out once
    part INTEGER NOT NULL,                    -- 0 for its first row
    moment REAL NOT NULL,
    reason TEXT NOT NULL,
    what TEXT NOT NULL,                       -- coins
    number INTEGER NOT NULL,                  -- of the thing; 0 for coins
    amount INTEGER NOT NULL CHECK (amount >= 0),  -- of coins in copper
    giver TEXT NOT NULL,                      -- the kind of owner: character, letter, transporter ...
    giver_id INTEGER NOT NULL,
    giver_left INTEGER CHECK (giver_left >= 0),   -- its balance afterwards; NULL: it has none
    giver_revision INTEGER,                   -- the number of this movement among all of the giver
    taker TEXT NOT NULL,
    taker_id INTEGER NOT NULL,
    taker_left INTEGER CHECK (taker_left >= 0),
    taker_revision INTEGER,
    UNIQUE (request, part)
) STRICT;

CREATE INDEX world_ledger_of_giver ON world_ledger (giver_id, giver);
CREATE INDEX world_ledger_of_taker ON world_ledger (taker_id, taker);

-- How many movements have changed the balance.
ALTER TABLE world_characters ADD COLUMN ledger_revision INTEGER NOT NULL DEFAULT 0;
ALTER TABLE world_mail ADD COLUMN ledger_revision INTEGER NOT NULL DEFAULT 0;

-- What owners have already: the ledger's sum is that of all balances from its beginning.
INSERT INTO world_ledger (
    request, part, moment, reason, what, number, amount, giver, giver_id, taker, taker_id, taker_left,
    taker_revision
)
SELECT
    'before-character-' || id, 0, unixepoch(), 'had before the ledger', 'coins', 0, coins, 'before', 0,
    'character', id, coins, 1
FROM world_characters WHERE coins > 0 ORDER BY id;
INSERT INTO world_ledger (
    request, part, moment, reason, what, number, amount, giver, giver_id, taker, taker_id, taker_left,
    taker_revision
)
SELECT
    'before-letter-' || id, 0, unixepoch(), 'had before the ledger', 'coins', 0, coins, 'before', 0,
    'letter', id, coins, 1
FROM world_mail WHERE coins > 0 ORDER BY id;
UPDATE world_characters SET ledger_revision = 1 WHERE coins > 0;
UPDATE world_mail SET ledger_revision = 1 WHERE coins > 0;
