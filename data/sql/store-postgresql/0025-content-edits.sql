-- Changes of the content file made in the game, as the step for SQLite describes them.

CREATE TABLE content_edits (
    subject TEXT NOT NULL,
    number BIGINT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    old TEXT NOT NULL,
    author TEXT NOT NULL,
    changed DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (subject, number, name)
);
