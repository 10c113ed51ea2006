-- The nodes of a cluster, and what each of them holds, as the step for SQLite describes it.

CREATE TABLE nodes (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    term BIGINT NOT NULL,
    host TEXT NOT NULL,
    port BIGINT NOT NULL,
    version TEXT NOT NULL,
    capacity BIGINT NOT NULL,
    pinned TEXT NOT NULL,
    state TEXT NOT NULL,
    players BIGINT NOT NULL,
    seen DOUBLE PRECISION NOT NULL
);

CREATE TABLE zone_servers (
    zone_id BIGINT NOT NULL,
    instance BIGINT NOT NULL,
    node TEXT NOT NULL,
    node_term BIGINT NOT NULL,
    is_full BOOLEAN NOT NULL,
    PRIMARY KEY (zone_id, instance)
);

CREATE INDEX zone_servers_node ON zone_servers (node);

CREATE TABLE leases (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    node TEXT NOT NULL,
    node_term BIGINT NOT NULL
);
