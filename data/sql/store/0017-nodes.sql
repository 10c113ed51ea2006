-- The nodes of a cluster, and what each of them holds. Times are seconds by the database's clock.

CREATE TABLE nodes (
    name TEXT NOT NULL PRIMARY KEY,
    term INTEGER NOT NULL,                     -- only grows; what a node holds has it, too
    host TEXT NOT NULL,                        -- where clients reach its zones
    port INTEGER NOT NULL,
    version TEXT NOT NULL,
    capacity INTEGER NOT NULL,                 -- players; 0: it runs no zones
    pinned TEXT NOT NULL,                      -- ids of zones that belong there, with commas
    state TEXT NOT NULL,                       -- up, draining, stopped
    players INTEGER NOT NULL,
    seen REAL NOT NULL                         -- time of the last beat
) STRICT;

CREATE TABLE zone_servers (
    -- The node that runs a zone instance.
    zone_id INTEGER NOT NULL,
    instance INTEGER NOT NULL,
    node TEXT NOT NULL,
    node_term INTEGER NOT NULL,
    is_full INTEGER NOT NULL,                  -- boolean
    PRIMARY KEY (zone_id, instance)
) STRICT;

CREATE INDEX zone_servers_node ON zone_servers (node);

CREATE TABLE leases (
    -- The node that does what only one node does.
    name TEXT NOT NULL PRIMARY KEY,
    node TEXT NOT NULL,
    node_term INTEGER NOT NULL
) STRICT;
