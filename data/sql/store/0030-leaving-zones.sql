-- The zone instances that a node still runs after they were placed on another one.

ALTER TABLE nodes ADD COLUMN leaving TEXT NOT NULL DEFAULT '';    -- zone:instance,zone:instance
