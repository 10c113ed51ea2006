-- A database as the first released schema had it, written by that version's own code and dumped.
PRAGMA application_id = 1701917285;
PRAGMA user_version = 5;
BEGIN TRANSACTION;
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
INSERT INTO "accounts" VALUES(1,'Alice','alice','ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',1,NULL,'',1000.5,2000.25,'192.0.2.7',546);
INSERT INTO "accounts" VALUES(2,'Bob','bob','eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee',1,253402300799.0,'rude',1001.0,NULL,'',0);
CREATE TABLE banned_addresses (
    -- One row keeps an address, the addresses that start with it, or a network out.
    prefix TEXT PRIMARY KEY,                  -- 192.0.2.7, 192.0.2 (whole parts only) or 192.0.2.0/24
    reason TEXT NOT NULL DEFAULT '',
    added REAL NOT NULL,
    until REAL                                -- when the ban ends; NULL is never
) STRICT, WITHOUT ROWID;
INSERT INTO "banned_addresses" VALUES('198.51.100','spam',5.0,NULL);
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
INSERT INTO "bug_reports" VALUES(1,1,1,'Ayla','','','','','stuck','','','',0,0,2002.0);
CREATE TABLE character_appearance (
    -- One row is a number of a character's looks: a model id, or body_size.
    character_id INTEGER NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
    field TEXT NOT NULL,                      -- CharSelectProfile field name, such as race_type
    value INTEGER NOT NULL,
    PRIMARY KEY (character_id, field)
) STRICT, WITHOUT ROWID;
INSERT INTO "character_appearance" VALUES(1,'body_size',-20);
INSERT INTO "character_appearance" VALUES(1,'race_type',111);
CREATE TABLE character_colors (
    -- One row is a color or a slider of a character's looks.
    character_id INTEGER NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
    field TEXT NOT NULL,                      -- CharSelectProfile field name, such as hair_color1
    red INTEGER NOT NULL,
    green INTEGER NOT NULL,
    blue INTEGER NOT NULL,
    signed INTEGER NOT NULL CHECK (signed IN (0, 1)),  -- 1: parts are -128..127 (clients up to 561)
    PRIMARY KEY (character_id, field)
) STRICT, WITHOUT ROWID;
INSERT INTO "character_colors" VALUES(1,'hair_color1',1,-2,3,1);
CREATE TABLE character_equipment (
    -- One row is what an equipment slot shows in the character list.
    character_id INTEGER NOT NULL REFERENCES characters (id) ON DELETE CASCADE,
    slot INTEGER NOT NULL,
    model INTEGER NOT NULL,                   -- 0 is an empty slot
    red INTEGER NOT NULL,
    green INTEGER NOT NULL,
    blue INTEGER NOT NULL,
    highlight_red INTEGER NOT NULL,
    highlight_green INTEGER NOT NULL,
    highlight_blue INTEGER NOT NULL,
    PRIMARY KEY (character_id, slot)
) STRICT, WITHOUT ROWID;
INSERT INTO "character_equipment" VALUES(1,3,900,1,2,3,4,5,6);
CREATE TABLE characters (
    -- One row is one character on one world.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    world_id INTEGER NOT NULL REFERENCES worlds (id),
    char_id INTEGER NOT NULL,                 -- the character's id on its world
    name TEXT NOT NULL,
    race INTEGER NOT NULL DEFAULT 0,
    class INTEGER NOT NULL DEFAULT 0,
    gender INTEGER NOT NULL DEFAULT 0,
    deity INTEGER NOT NULL DEFAULT 0,
    level INTEGER NOT NULL DEFAULT 1,
    tradeskill_class INTEGER NOT NULL DEFAULT 0,
    tradeskill_level INTEGER NOT NULL DEFAULT 0,
    zone_id INTEGER NOT NULL DEFAULT 0,       -- a zone of world_zones, when the world described it
    zone_name TEXT NOT NULL DEFAULT '',       -- the zone's file name
    zone_description TEXT NOT NULL DEFAULT '',
    created REAL NOT NULL DEFAULT 0,
    last_played REAL NOT NULL DEFAULT 0,
    client_version INTEGER NOT NULL DEFAULT 0,  -- version that made it; tells how colors are coded
    deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1))  -- 1: no longer listed
) STRICT;
INSERT INTO "characters" VALUES(1,1,1,7,'Ayla',5,3,1,0,12,0,0,12,'qey_north','',1200.0,1900.0,546,0);
INSERT INTO "characters" VALUES(2,1,1,8,'Gone',0,0,0,0,1,0,0,0,'','',1200.0,0.0,0,1);
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
INSERT INTO "client_logs" VALUES(1,'Crash Log','it broke',1,'Alice','192.0.2.7',546,2001.0);
CREATE TABLE opcode_change (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    change INTEGER,
    at TEXT,
    who TEXT,
    action TEXT,
    undoes INTEGER
        -- what the history says of rows changed now; NULL but while `emu opcodes` writes
);
INSERT INTO "opcode_change" VALUES(1,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE opcode_history (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    change INTEGER NOT NULL,
        -- rows of one command share this number; `emu opcodes undo` takes it
    at TEXT NOT NULL,
        -- when, UTC
    who TEXT NOT NULL,
        -- the operator; 'SQL' when the row was changed by another tool
    action TEXT NOT NULL,
        -- set, unset, import, derive, undo, edit, shipped (a newer program's own tables), sql
    undoes INTEGER,
        -- the change that an undo took back
    first_version INTEGER NOT NULL,
    last_version INTEGER NOT NULL,
    name TEXT NOT NULL,
    old_opcode INTEGER,
        -- NULL: there was no such row before
    new_opcode INTEGER,
        -- NULL: the row was removed
    old_source TEXT,
    new_source TEXT,
    old_note TEXT,
    new_note TEXT
);
INSERT INTO "opcode_history" VALUES(1,1,'2026-11-21 22:03:25','alice','shipped',NULL,540,546,'OP_LoginRequestMsg',NULL,1,NULL,'shipped',NULL,'');
INSERT INTO "opcode_history" VALUES(2,1,'2026-11-21 22:03:25','alice','shipped',NULL,540,546,'OP_KeymapLoadMsg',NULL,3,NULL,'shipped',NULL,'');
INSERT INTO "opcode_history" VALUES(3,1,'2026-11-21 22:03:25','alice','shipped',NULL,540,546,'OP_NoLongerShippedMsg',NULL,4,NULL,'shipped',NULL,'');
INSERT INTO "opcode_history" VALUES(4,2,'2026-11-21 22:03:25','alice','set',NULL,540,546,'OP_KeymapLoadMsg',3,399,'shipped','operator','','measured');
INSERT INTO "opcode_history" VALUES(5,3,'2026-11-21 22:03:25','alice','set',NULL,60000,60010,'OP_MineMsg',NULL,77,NULL,'operator',NULL,'');
CREATE TABLE opcode_meta (
    key TEXT PRIMARY KEY,
        -- schema: number of the last step; shipped: fingerprint of the program's own tables
    value
) WITHOUT ROWID;
INSERT INTO "opcode_meta" VALUES('schema',1);
INSERT INTO "opcode_meta" VALUES('shipped','bae5e4c80d15e729fbe2b0a0e6cf03e182de7e3db61dc26787f676e433be3ab1');
CREATE TABLE opcodes (
    id INTEGER PRIMARY KEY,
    first_version INTEGER NOT NULL CHECK (first_version BETWEEN 0 AND 4294967295),
        -- first client data version the number holds for
    last_version INTEGER NOT NULL CHECK (last_version BETWEEN first_version AND 4294967295),
        -- last client data version, included
    name TEXT NOT NULL CHECK (name GLOB 'OP_?*' AND name NOT GLOB '*[^A-Za-z0-9_]*'),
        -- message or command as EQ2Emulator names it, OP_...Msg or OP_...Cmd
    opcode INTEGER NOT NULL CHECK (opcode BETWEEN 0 AND 65535),
        -- number on the wire; 999, 9999, 10000 and 65535 mean "this client has none"
    source TEXT NOT NULL DEFAULT '',
        -- where the number is known from
    note TEXT NOT NULL DEFAULT '',
        -- a remark, for instance how sure the number is
    UNIQUE (first_version, last_version, name)
);
INSERT INTO "opcodes" VALUES(1,540,546,'OP_LoginRequestMsg',1,'shipped','');
INSERT INTO "opcodes" VALUES(2,540,546,'OP_KeymapLoadMsg',399,'operator','measured');
INSERT INTO "opcodes" VALUES(3,540,546,'OP_NoLongerShippedMsg',4,'shipped','');
INSERT INTO "opcodes" VALUES(4,60000,60010,'OP_MineMsg',77,'operator','');
CREATE TABLE settings (
    -- Values taken over from another server's database, kept for reference: the server itself is
    -- configured by its TOML file.
    source TEXT NOT NULL,                     -- the table they come from, such as login_config
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (source, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE world_character_appearance (
    -- One row is a field of the create request: the file name of a model, or a number.
    character_id INTEGER NOT NULL REFERENCES world_characters (id) ON DELETE CASCADE,
    field TEXT NOT NULL,
    value ANY NOT NULL,
    PRIMARY KEY (character_id, field)
) STRICT, WITHOUT ROWID;
INSERT INTO "world_character_appearance" VALUES(1,'body_size',12);
INSERT INTO "world_character_appearance" VALUES(1,'race_file','ec/pc/human');
CREATE TABLE world_character_colors (
    -- One row is a color or a slider of the create request.
    character_id INTEGER NOT NULL REFERENCES world_characters (id) ON DELETE CASCADE,
    field TEXT NOT NULL,
    red INTEGER NOT NULL,
    green INTEGER NOT NULL,
    blue INTEGER NOT NULL,
    signed INTEGER NOT NULL CHECK (signed IN (0, 1)),  -- 1: parts are -128..127
    PRIMARY KEY (character_id, field)
) STRICT, WITHOUT ROWID;
INSERT INTO "world_character_colors" VALUES(1,'skin_color',250,0,1,0);
CREATE TABLE world_characters (
    -- One row is one character of the built-in world; its id is the char_id everybody else sees.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL UNIQUE,            -- without regard to case; deleted names stay taken
    race INTEGER NOT NULL,
    class INTEGER NOT NULL,
    gender INTEGER NOT NULL,
    deity INTEGER NOT NULL,
    level INTEGER NOT NULL,
    starting_zone INTEGER NOT NULL,           -- what the player chose when making the character
    zone_id INTEGER NOT NULL,                 -- where the character is
    client_version INTEGER NOT NULL,          -- version that made it
    created REAL NOT NULL,
    last_played REAL NOT NULL DEFAULT 0,
    admin_status INTEGER NOT NULL DEFAULT 0,  -- -2 banned for ever, -1 banned, 0 player, 100 and up
                                              -- game master
    deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1))
) STRICT;
INSERT INTO "world_characters" VALUES(1,1,'Borvik','borvik',5,3,1,2,1,3,12,546,1300.0,0.0,0,0);
CREATE TABLE world_stats (
    -- One row is a world's latest status report.
    world_id INTEGER PRIMARY KEY REFERENCES worlds (id) ON DELETE CASCADE,
    status INTEGER NOT NULL,                  -- 1 up, -2 locked, -3 full, -4 link is gone
    players INTEGER NOT NULL,
    zones INTEGER NOT NULL,                   -- zone processes the world runs
    updated REAL NOT NULL
) STRICT;
INSERT INTO "world_stats" VALUES(1,1,3,2,1600.0);
CREATE TABLE world_zones (
    -- One row is a zone as its world describes it; the character list shows these texts.
    world_id INTEGER NOT NULL REFERENCES worlds (id) ON DELETE CASCADE,
    zone_id INTEGER NOT NULL,                 -- the world's own number of the zone
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    PRIMARY KEY (world_id, zone_id)
) STRICT, WITHOUT ROWID;
INSERT INTO "world_zones" VALUES(1,12,'qey_north','North Qeynos');
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
INSERT INTO "worlds" VALUES(1,'Norrath','norrath','norrath','norrath','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','',1,0.0,1500.0,'203.0.113.1','0.9');
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
CREATE UNIQUE INDEX characters_alive ON characters (world_id, char_id) WHERE NOT deleted;
CREATE INDEX characters_of_account ON characters (account_id);
CREATE INDEX world_characters_of_account ON world_characters (account_id);
CREATE INDEX client_logs_of_account ON client_logs (account_id);
CREATE INDEX bug_reports_of_world ON bug_reports (world_id);
CREATE INDEX opcode_history_by_change ON opcode_history (change);
CREATE TRIGGER opcodes_inserted AFTER INSERT ON opcodes BEGIN
    INSERT INTO opcode_history (change, at, who, action, undoes, first_version, last_version,
        name, new_opcode, new_source, new_note)
    SELECT coalesce(change, (SELECT coalesce(max(change), 0) + 1 FROM opcode_history)),
        coalesce(at, datetime('now')), coalesce(who, 'SQL'), coalesce(action, 'sql'), undoes,
        new.first_version, new.last_version, new.name, new.opcode, new.source, new.note
    FROM opcode_change;
END;
CREATE TRIGGER opcodes_deleted AFTER DELETE ON opcodes BEGIN
    INSERT INTO opcode_history (change, at, who, action, undoes, first_version, last_version,
        name, old_opcode, old_source, old_note)
    SELECT coalesce(change, (SELECT coalesce(max(change), 0) + 1 FROM opcode_history)),
        coalesce(at, datetime('now')), coalesce(who, 'SQL'), coalesce(action, 'sql'), undoes,
        old.first_version, old.last_version, old.name, old.opcode, old.source, old.note
    FROM opcode_change;
END;
CREATE TRIGGER opcodes_updated AFTER UPDATE ON opcodes
WHEN old.first_version = new.first_version AND old.last_version = new.last_version
    AND old.name = new.name
BEGIN
    INSERT INTO opcode_history (change, at, who, action, undoes, first_version, last_version,
        name, old_opcode, new_opcode, old_source, new_source, old_note, new_note)
    SELECT coalesce(change, (SELECT coalesce(max(change), 0) + 1 FROM opcode_history)),
        coalesce(at, datetime('now')), coalesce(who, 'SQL'), coalesce(action, 'sql'), undoes,
        new.first_version, new.last_version, new.name, old.opcode, new.opcode,
        old.source, new.source, old.note, new.note
    FROM opcode_change;
END;
CREATE TRIGGER opcodes_moved AFTER UPDATE ON opcodes
WHEN old.first_version <> new.first_version OR old.last_version <> new.last_version
    OR old.name <> new.name
BEGIN
    INSERT INTO opcode_history (change, at, who, action, first_version, last_version,
        name, old_opcode, old_source, old_note)
    VALUES ((SELECT coalesce(max(change), 0) + 1 FROM opcode_history), datetime('now'), 'SQL',
        'sql', old.first_version, old.last_version, old.name, old.opcode, old.source, old.note);
    INSERT INTO opcode_history (change, at, who, action, first_version, last_version,
        name, new_opcode, new_source, new_note)
    VALUES ((SELECT max(change) FROM opcode_history), datetime('now'), 'SQL',
        'sql', new.first_version, new.last_version, new.name, new.opcode, new.source, new.note);
END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('accounts',2);
INSERT INTO "sqlite_sequence" VALUES('worlds',1);
INSERT INTO "sqlite_sequence" VALUES('characters',2);
INSERT INTO "sqlite_sequence" VALUES('world_characters',1);
INSERT INTO "sqlite_sequence" VALUES('opcode_history',5);
COMMIT;
