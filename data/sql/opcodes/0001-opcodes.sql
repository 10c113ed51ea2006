-- Opcode tables of the database, step 1. The number of the last step stands in opcode_meta.

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

CREATE INDEX opcode_history_by_change ON opcode_history (change);

CREATE TABLE opcode_meta (
    key TEXT PRIMARY KEY,
        -- schema: number of the last step; shipped: fingerprint of the program's own tables
    value
) WITHOUT ROWID;

CREATE TABLE opcode_change (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    change INTEGER,
    at TEXT,
    who TEXT,
    action TEXT,
    undoes INTEGER
        -- what the history says of rows changed now; NULL but while `emu opcodes` writes
);

INSERT INTO opcode_change (id) VALUES (1);

-- History is written by the database itself, so that an edit with any tool is in it.

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

-- Moving a row to another range or name is a removal and an addition under one change.
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
