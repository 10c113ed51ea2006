-- Values of a character that its sheet and its books show: trade, last name, coins, status points,
-- experience, skills and languages. And which characters were imported from other worlds.

ALTER TABLE world_characters ADD COLUMN tradeskill_class INTEGER NOT NULL DEFAULT 0;
ALTER TABLE world_characters ADD COLUMN tradeskill_level INTEGER NOT NULL DEFAULT 1;
ALTER TABLE world_characters ADD COLUMN last_name TEXT NOT NULL DEFAULT '';
ALTER TABLE world_characters ADD COLUMN coins INTEGER NOT NULL DEFAULT 0;  -- in copper
ALTER TABLE world_characters ADD COLUMN status_points INTEGER NOT NULL DEFAULT 0;
ALTER TABLE world_characters ADD COLUMN experience INTEGER NOT NULL DEFAULT 0;        -- in this level
ALTER TABLE world_characters ADD COLUMN experience_needed INTEGER NOT NULL DEFAULT 0; -- for the next

CREATE TABLE world_skills (
    -- One row is a skill of a character. A character without rows has the skills of a new one.
    character_id INTEGER NOT NULL REFERENCES world_characters (id) ON DELETE CASCADE,
    skill INTEGER NOT NULL,
    value INTEGER NOT NULL,
    most INTEGER NOT NULL,
    PRIMARY KEY (character_id, skill)
) STRICT, WITHOUT ROWID;

CREATE TABLE world_languages (
    -- One row is a language of a character. A character without rows has those of a new one.
    character_id INTEGER NOT NULL REFERENCES world_characters (id) ON DELETE CASCADE,
    language INTEGER NOT NULL,
    PRIMARY KEY (character_id, language)
) STRICT, WITHOUT ROWID;

CREATE TABLE imported_characters (
    -- One row is a character of another world that was imported. It stays when the character is
    -- deleted, so that a repeated import does not create the character again.
    world TEXT NOT NULL,                      -- key of the link account of the other world
    char_id INTEGER NOT NULL,                 -- the character's id on the other world
    account_id INTEGER NOT NULL,
    own_id INTEGER NOT NULL,                  -- its id in world_characters
    PRIMARY KEY (world, char_id)
) STRICT, WITHOUT ROWID;
