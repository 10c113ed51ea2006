-- Since when the spawn of a memory is missing in the zone files, so that it is deleted later.

ALTER TABLE spawn_memories ADD COLUMN removed REAL;  -- NULL: it is in the files
