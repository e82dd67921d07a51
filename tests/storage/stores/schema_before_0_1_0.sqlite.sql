CREATE TABLE semcache_version (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT semcache_version_pkc PRIMARY KEY (version_num)
);

-- 0001

CREATE TABLE meta (
    name VARCHAR NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE entries (
    id INTEGER NOT NULL,
    exact BLOB NOT NULL,
    shelf BLOB NOT NULL,
    category VARCHAR NOT NULL,
    created DOUBLE NOT NULL,
    expires DOUBLE NOT NULL,
    tenant VARCHAR NOT NULL,
    user_id VARCHAR,
    namespace VARCHAR NOT NULL,
    seal_key VARCHAR,
    text BLOB NOT NULL,
    signature BLOB NOT NULL,
    endpoint VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    embedder_id VARCHAR NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cost DOUBLE NOT NULL,
    latency DOUBLE NOT NULL,
    tags VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    canonical BLOB NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (id)
);

CREATE UNIQUE INDEX entries_exact ON entries (exact);

CREATE INDEX entries_scope ON entries (tenant, user_id, namespace);

CREATE INDEX entries_namespace ON entries (namespace);

CREATE INDEX entries_user ON entries (user_id);

CREATE INDEX entries_category ON entries (category);

CREATE INDEX entries_model ON entries (model);

CREATE INDEX entries_source ON entries (source);

CREATE INDEX entries_created ON entries (created);

CREATE INDEX entries_expires ON entries (expires);

CREATE INDEX entries_seal_key ON entries (seal_key);

CREATE TABLE entry_tags (
    tag VARCHAR NOT NULL,
    entry_id INTEGER NOT NULL,
    PRIMARY KEY (tag, entry_id),
    FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
);

CREATE INDEX entry_tags_entry ON entry_tags (entry_id);

CREATE TABLE vectors (
    entry_id INTEGER NOT NULL,
    embedder_id VARCHAR NOT NULL,
    dim INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (entry_id),
    FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
);

CREATE INDEX vectors_embedder ON vectors (embedder_id, entry_id);

CREATE TABLE changes (
    seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind VARCHAR NOT NULL,
    entry_id INTEGER NOT NULL,
    exact BLOB NOT NULL,
    at DOUBLE NOT NULL
);

CREATE TABLE rejections (
    entry_id INTEGER NOT NULL,
    exact BLOB NOT NULL,
    at DOUBLE NOT NULL,
    PRIMARY KEY (entry_id, exact),
    FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
);

CREATE TABLE events (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    request_id VARCHAR NOT NULL,
    at DOUBLE NOT NULL,
    endpoint VARCHAR NOT NULL,
    tenant VARCHAR NOT NULL,
    user_id VARCHAR,
    namespace VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    category VARCHAR NOT NULL,
    outcome VARCHAR NOT NULL,
    why VARCHAR NOT NULL,
    status INTEGER NOT NULL,
    entry_id INTEGER,
    exact BLOB NOT NULL,
    score DOUBLE,
    p_correct DOUBLE,
    stored VARCHAR,
    stream BOOLEAN NOT NULL,
    collapsed BOOLEAN NOT NULL,
    requests INTEGER NOT NULL,
    saved_prompt_tokens INTEGER NOT NULL,
    saved_completion_tokens INTEGER NOT NULL,
    saved_cost DOUBLE NOT NULL,
    spent_prompt_tokens INTEGER NOT NULL,
    spent_completion_tokens INTEGER NOT NULL,
    spent_cost DOUBLE NOT NULL,
    seconds DOUBLE NOT NULL,
    timings VARCHAR NOT NULL
);

CREATE INDEX events_entry ON events (entry_id);

CREATE INDEX events_at ON events (at);

CREATE TABLE totals (
    category VARCHAR NOT NULL,
    outcome VARCHAR NOT NULL,
    requests INTEGER NOT NULL,
    saved_prompt_tokens INTEGER NOT NULL,
    saved_completion_tokens INTEGER NOT NULL,
    saved_cost DOUBLE NOT NULL,
    spent_cost DOUBLE NOT NULL,
    seconds DOUBLE NOT NULL,
    PRIMARY KEY (category, outcome)
);

CREATE TABLE api_keys (
    id VARCHAR NOT NULL,
    digest BLOB NOT NULL,
    tenant VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    created DOUBLE NOT NULL,
    trusted BOOLEAN NOT NULL,
    admin BOOLEAN NOT NULL,
    revoked DOUBLE,
    PRIMARY KEY (id)
);

CREATE UNIQUE INDEX api_keys_digest ON api_keys (digest);

INSERT INTO semcache_version (version_num) VALUES ('0001');

-- 0002

ALTER TABLE entries ADD COLUMN answer INTEGER DEFAULT '0' NOT NULL;

CREATE TABLE labels (
    seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    at DOUBLE NOT NULL,
    category VARCHAR NOT NULL,
    tenant VARCHAR NOT NULL,
    answer INTEGER NOT NULL,
    exact BLOB NOT NULL,
    score DOUBLE NOT NULL,
    features BLOB NOT NULL,
    p_correct DOUBLE NOT NULL,
    source VARCHAR NOT NULL,
    served BOOLEAN NOT NULL,
    chance DOUBLE NOT NULL,
    entry_id INTEGER NOT NULL,
    correct BOOLEAN NOT NULL
);

CREATE TABLE learned (
    name VARCHAR NOT NULL,
    seq INTEGER NOT NULL,
    state BLOB NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE judgements (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    at DOUBLE NOT NULL,
    category VARCHAR NOT NULL,
    tenant VARCHAR NOT NULL,
    answer INTEGER NOT NULL,
    exact BLOB NOT NULL,
    score DOUBLE NOT NULL,
    features BLOB NOT NULL,
    p_correct DOUBLE NOT NULL,
    source VARCHAR NOT NULL,
    served BOOLEAN NOT NULL,
    chance DOUBLE NOT NULL,
    entry_id INTEGER NOT NULL,
    fresh_id INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    free_at DOUBLE NOT NULL,
    FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
    FOREIGN KEY(fresh_id) REFERENCES entries (id) ON DELETE CASCADE
);

CREATE INDEX judgements_entry ON judgements (entry_id);

CREATE INDEX judgements_fresh ON judgements (fresh_id);

CREATE INDEX judgements_free ON judgements (free_at);

UPDATE semcache_version SET version_num='0002' WHERE semcache_version.version_num = '0001';

-- 0003

CREATE TABLE plans (
    id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    tenant VARCHAR NOT NULL,
    expires DOUBLE NOT NULL,
    seal_key VARCHAR,
    embedder_id VARCHAR NOT NULL,
    vectors BLOB NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (id)
);

CREATE UNIQUE INDEX plans_seq ON plans (seq);

CREATE INDEX plans_expires ON plans (expires);

UPDATE semcache_version SET version_num='0003' WHERE semcache_version.version_num = '0002';

-- 0004

CREATE TABLE reembedded (
    entry_id INTEGER NOT NULL,
    embedder_id VARCHAR NOT NULL,
    shelf BLOB NOT NULL,
    dim INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (entry_id, embedder_id),
    FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
);

UPDATE semcache_version SET version_num='0004' WHERE semcache_version.version_num = '0003';

-- 0005

ALTER TABLE totals ADD COLUMN calls INTEGER DEFAULT '0' NOT NULL;

ALTER TABLE totals ADD COLUMN spent_prompt_tokens INTEGER DEFAULT '0' NOT NULL;

ALTER TABLE totals ADD COLUMN spent_completion_tokens INTEGER DEFAULT '0' NOT NULL;

UPDATE semcache_version SET version_num='0005' WHERE semcache_version.version_num = '0004';
