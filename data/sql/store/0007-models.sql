-- Numbers of models, beside the bodies that ship with the program.

CREATE TABLE models (
    -- One row is a model that create requests may name; EQ2Emulator's table `appearances`.
    path TEXT PRIMARY KEY,                    -- in lower case, such as ec/pc/human/human_male
    number INTEGER NOT NULL                   -- what clients know it by
) STRICT, WITHOUT ROWID;
