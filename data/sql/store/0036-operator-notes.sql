-- What operators write down about the players of an account. Players never see it.

CREATE TABLE operator_notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    moment REAL NOT NULL,
    who TEXT NOT NULL,                        -- the operator
    text TEXT NOT NULL
) STRICT;

CREATE INDEX operator_notes_of_account ON operator_notes (account_id);
