-- The content file that a node serves, so that nodes with different ones are seen.

ALTER TABLE nodes ADD COLUMN content TEXT NOT NULL DEFAULT '';    -- its digest; empty without one
