-- The tables of the store, version 1. Statements end with ";" at the end of a line.
CREATE TABLE keys (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,  -- never given out twice, so that nothing passes to a later key
    name       TEXT NOT NULL,
    hash       BLOB NOT NULL UNIQUE,               -- SHA-256 of the key
    created    REAL NOT NULL,
    revoked    REAL,
    per_minute INTEGER,                            -- requests; NULL: what the server says for all
    characters INTEGER,                            -- per period; NULL: what the server says for all
    period     TEXT NOT NULL                       -- day or month
);
CREATE UNIQUE INDEX active_names ON keys (name) WHERE revoked IS NULL;

CREATE TABLE hits (
    subject TEXT NOT NULL,
    at      REAL NOT NULL                          -- of a request within the last minute
);
CREATE INDEX hits_of ON hits (subject, at);
CREATE INDEX hits_at ON hits (at);
CREATE TABLE used (
    subject    TEXT NOT NULL,
    period     TEXT NOT NULL,                      -- 2026-11 or 2026-11-16
    characters INTEGER NOT NULL,
    PRIMARY KEY (subject, period)
) WITHOUT ROWID;

CREATE TABLE glossaries (
    id      TEXT PRIMARY KEY,
    owner   TEXT NOT NULL,
    name    TEXT NOT NULL,
    source  TEXT NOT NULL,
    target  TEXT NOT NULL,
    created REAL NOT NULL,
    entries INTEGER NOT NULL,
    tsv     TEXT NOT NULL
);
CREATE INDEX glossaries_of ON glossaries (owner, created);

CREATE TABLE documents (
    id         TEXT PRIMARY KEY,                   -- also the name of its files
    owner      TEXT NOT NULL,
    hash       BLOB NOT NULL,                      -- SHA-256 of the document's key
    name       TEXT NOT NULL,                      -- what the client called it; never a path of ours
    request    TEXT NOT NULL,                      -- what was asked for, JSON
    status     TEXT NOT NULL,                      -- queued, translating, done, error
    message    TEXT NOT NULL DEFAULT '',           -- of an error
    characters INTEGER NOT NULL DEFAULT 0,
    bytes      INTEGER NOT NULL,                   -- of its files together
    created    REAL NOT NULL,
    expires    REAL NOT NULL,
    attempts   INTEGER NOT NULL DEFAULT 0,
    worker     TEXT,                               -- who translates it
    heard      REAL                                -- when that worker was last heard of
);
CREATE INDEX documents_waiting ON documents (status, created);
CREATE INDEX documents_end ON documents (expires);

CREATE TABLE suggestions (
    id      INTEGER PRIMARY KEY,
    owner   TEXT NOT NULL,
    source  TEXT NOT NULL,
    target  TEXT NOT NULL,
    text    TEXT NOT NULL,
    better  TEXT NOT NULL,
    created REAL NOT NULL,
    UNIQUE (owner, source, target, text, better)
);
