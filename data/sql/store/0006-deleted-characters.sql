-- When a character was deleted, so that its row can go and its name be free after a time.

ALTER TABLE characters ADD COLUMN deleted_at REAL;  -- NULL: it is not deleted

ALTER TABLE world_characters ADD COLUMN deleted_at REAL;  -- NULL: it is not deleted

UPDATE characters SET deleted_at = unixepoch('now') WHERE deleted;

UPDATE world_characters SET deleted_at = unixepoch('now') WHERE deleted;

CREATE INDEX characters_deleted ON characters (deleted_at) WHERE deleted;

CREATE INDEX world_characters_deleted ON world_characters (deleted_at) WHERE deleted;

-- Kept by the database itself, so that a change made with any tool is right.

CREATE TRIGGER character_deleted AFTER UPDATE OF deleted ON characters
WHEN old.deleted <> new.deleted
BEGIN
    UPDATE characters SET deleted_at = iif(new.deleted, unixepoch('now'), NULL) WHERE id = new.id;
END;

CREATE TRIGGER character_added_deleted AFTER INSERT ON characters WHEN new.deleted
BEGIN
    UPDATE characters SET deleted_at = unixepoch('now') WHERE id = new.id;
END;

CREATE TRIGGER world_character_deleted AFTER UPDATE OF deleted ON world_characters
WHEN old.deleted <> new.deleted
BEGIN
    UPDATE world_characters SET deleted_at = iif(new.deleted, unixepoch('now'), NULL)
    WHERE id = new.id;
END;

CREATE TRIGGER world_character_added_deleted AFTER INSERT ON world_characters WHEN new.deleted
BEGIN
    UPDATE world_characters SET deleted_at = unixepoch('now') WHERE id = new.id;
END;
