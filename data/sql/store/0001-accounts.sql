-- Who may log in. All times are unix seconds; a view with dates people can read is at the end.

CREATE TABLE accounts (
    -- One row is one player's account. Ids are never used again: worlds know accounts by id.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,                       -- as it was typed when the account was made
    name_key TEXT NOT NULL UNIQUE,            -- the name without regard to case; what a lookup uses
    password TEXT NOT NULL,                   -- Argon2id PHC string, or EQ2Emulator's SHA-512 digits
                                              -- until the next login
    enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
    banned_until REAL,                        -- when a ban ends; 253402300799 (end of 9999) is never,
                                              -- NULL is not banned
    ban_reason TEXT NOT NULL DEFAULT '',      -- for operators; players do not see it
    created REAL NOT NULL,
    last_login REAL,                          -- NULL when nobody has logged in yet
    last_address TEXT NOT NULL DEFAULT '',    -- where the last login came from
    last_client_version INTEGER NOT NULL DEFAULT 0  -- client data version of the last login
) STRICT;

CREATE TABLE banned_addresses (
    -- One row keeps an address, the addresses that start with it, or a network out.
    prefix TEXT PRIMARY KEY,                  -- 192.0.2.7, 192.0.2 (whole parts only) or 192.0.2.0/24
    reason TEXT NOT NULL DEFAULT '',
    added REAL NOT NULL,
    until REAL                                -- when the ban ends; NULL is never
) STRICT, WITHOUT ROWID;

CREATE TABLE settings (
    -- Values taken over from another server's database, kept for reference: the server itself is
    -- configured by its TOML file.
    source TEXT NOT NULL,                     -- the table they come from, such as login_config
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (source, name)
) STRICT, WITHOUT ROWID;

CREATE VIEW account_overview AS
    -- Accounts as a person wants to read them.
    SELECT
        id,
        name,
        CASE
            WHEN NOT enabled THEN 'disabled'
            WHEN banned_until > unixepoch('now') THEN 'banned'
            ELSE 'enabled'
        END AS state,
        datetime(created, 'unixepoch') AS created_utc,
        datetime(last_login, 'unixepoch') AS last_login_utc,
        last_address,
        last_client_version
    FROM accounts;
