-- World servers that may register, and what they report.

CREATE TABLE worlds (
    -- One row is one world server. Ids are what clients see, and are never used again.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,                       -- what players see; what the world calls itself does
                                              -- not count
    name_key TEXT NOT NULL UNIQUE,            -- the name without regard to case
    account TEXT NOT NULL,                    -- the account name the world registers with
    account_key TEXT NOT NULL UNIQUE,         -- that name without regard to case
    password TEXT NOT NULL,                   -- SHA-512 of the link password, 128 hex digits
    description TEXT NOT NULL DEFAULT '',
    enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
    created REAL NOT NULL DEFAULT 0,
    last_connected REAL,                      -- when the world registered last
    last_address TEXT NOT NULL DEFAULT '',    -- where it registered from
    login_version TEXT NOT NULL DEFAULT ''    -- program version it reported
) STRICT;

CREATE TABLE world_stats (
    -- One row is a world's latest status report.
    world_id INTEGER PRIMARY KEY REFERENCES worlds (id) ON DELETE CASCADE,
    status INTEGER NOT NULL,                  -- 1 up, -2 locked, -3 full, -4 link is gone
    players INTEGER NOT NULL,
    zones INTEGER NOT NULL,                   -- zone processes the world runs
    updated REAL NOT NULL
) STRICT;

CREATE TABLE world_zones (
    -- One row is a zone as its world describes it; the character list shows these texts.
    world_id INTEGER NOT NULL REFERENCES worlds (id) ON DELETE CASCADE,
    zone_id INTEGER NOT NULL,                 -- the world's own number of the zone
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    PRIMARY KEY (world_id, zone_id)
) STRICT, WITHOUT ROWID;

CREATE VIEW world_overview AS
    -- Worlds as a person wants to read them.
    SELECT
        worlds.id,
        worlds.name,
        worlds.account,
        CASE WHEN enabled THEN 'enabled' ELSE 'disabled' END AS state,
        coalesce(world_stats.status, -4) AS status,
        coalesce(world_stats.players, 0) AS players,
        datetime(worlds.last_connected, 'unixepoch') AS last_connected_utc,
        worlds.last_address,
        worlds.login_version
    FROM worlds
    LEFT JOIN world_stats ON world_stats.world_id = worlds.id;
