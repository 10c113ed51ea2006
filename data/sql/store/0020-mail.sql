-- Letters between characters of the built-in world.

CREATE TABLE world_mail (
    -- One row is a letter in the mailbox of a character.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    recipient_id INTEGER NOT NULL REFERENCES world_characters (id) ON DELETE CASCADE,
    sender_id INTEGER REFERENCES world_characters (id) ON DELETE SET NULL,  -- NULL: removed
    sender_account INTEGER NOT NULL,          -- for the limit of letters from one account
    sender TEXT NOT NULL,                     -- the sender's name when it sent the letter
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    coins INTEGER NOT NULL CHECK (coins >= 0),  -- in copper; 0 after they were taken
    sent REAL NOT NULL,
    expires REAL NOT NULL,                    -- then it goes back to its sender, or is removed
    is_read INTEGER NOT NULL DEFAULT 0 CHECK (is_read IN (0, 1)),
    is_returned INTEGER NOT NULL DEFAULT 0 CHECK (is_returned IN (0, 1))  -- 1: has come back
) STRICT;

CREATE INDEX world_mail_of_recipient ON world_mail (recipient_id, expires);
CREATE INDEX world_mail_of_sender ON world_mail (sender_id, expires);
