-- Things: what characters, letters and shared banks have. They change in the transactions of the
-- ledger, whose entries of the kind "things" count them.

CREATE TABLE world_things (
    number INTEGER PRIMARY KEY,               -- given by world_thing_numbers; never used again
    keeper TEXT NOT NULL,                     -- the kind of owner: character, letter, account, sold
    keeper_id INTEGER NOT NULL,
    list TEXT NOT NULL,                       -- bags, worn, appearance, bank, shared, overflow, held
    bag INTEGER NOT NULL,                     -- the thing in which it lies; 0: in none
    slot INTEGER NOT NULL,
    item_id INTEGER NOT NULL,                 -- its kind, in the content file
    count INTEGER NOT NULL CHECK (count > 0), -- of a stack, or the charges that are left
    condition INTEGER NOT NULL,
    attuned INTEGER NOT NULL CHECK (attuned IN (0, 1)),
    creator TEXT NOT NULL,
    max_sell_value INTEGER NOT NULL,          -- copper that was paid; 0: no limit
    no_sale INTEGER NOT NULL CHECK (no_sale IN (0, 1)),
    created REAL NOT NULL
) STRICT;

CREATE INDEX world_things_of_keeper ON world_things (keeper_id, keeper);

-- The next number of a thing, in one row. Processes take many at once.
CREATE TABLE world_thing_numbers (
    name TEXT PRIMARY KEY,
    next INTEGER NOT NULL                     -- the number of the next thing
) STRICT;

-- What removed entries of the ledger have counted, by kind.
CREATE TABLE world_thing_sums (
    item_id INTEGER PRIMARY KEY,
    count INTEGER NOT NULL                    -- made, less those removed
) STRICT;
