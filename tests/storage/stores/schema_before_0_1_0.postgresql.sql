CREATE TABLE semcache_version (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT semcache_version_pkc PRIMARY KEY (version_num)
);

-- 0001

CREATE TABLE meta (
    name VARCHAR NOT NULL,
    value BYTEA NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE entries (
    id BIGINT NOT NULL,
    exact BYTEA NOT NULL,
    shelf BYTEA NOT NULL,
    category VARCHAR NOT NULL,
    created DOUBLE PRECISION NOT NULL,
    expires DOUBLE PRECISION NOT NULL,
    tenant VARCHAR NOT NULL,
    user_id VARCHAR,
    namespace VARCHAR NOT NULL,
    seal_key VARCHAR,
    text BYTEA NOT NULL,
    signature BYTEA NOT NULL,
    endpoint VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    embedder_id VARCHAR NOT NULL,
    prompt_tokens BIGINT NOT NULL,
    completion_tokens BIGINT NOT NULL,
    cost DOUBLE PRECISION NOT NULL,
    latency DOUBLE PRECISION NOT NULL,
    tags VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    canonical BYTEA NOT NULL,
    body BYTEA NOT NULL,
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
    entry_id BIGINT NOT NULL,
    PRIMARY KEY (tag, entry_id),
    FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
);

CREATE INDEX entry_tags_entry ON entry_tags (entry_id);

CREATE TABLE vectors (
    entry_id BIGINT NOT NULL,
    embedder_id VARCHAR NOT NULL,
    dim INTEGER NOT NULL,
    data BYTEA NOT NULL,
    PRIMARY KEY (entry_id),
    FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
);

CREATE INDEX vectors_embedder ON vectors (embedder_id, entry_id);

CREATE TABLE changes (
    seq BIGSERIAL NOT NULL,
    kind VARCHAR NOT NULL,
    entry_id BIGINT NOT NULL,
    exact BYTEA NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (seq)
);

CREATE TABLE rejections (
    entry_id BIGINT NOT NULL,
    exact BYTEA NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (entry_id, exact),
    FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
);

CREATE TABLE events (
    id BIGSERIAL NOT NULL,
    request_id VARCHAR NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    endpoint VARCHAR NOT NULL,
    tenant VARCHAR NOT NULL,
    user_id VARCHAR,
    namespace VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    category VARCHAR NOT NULL,
    outcome VARCHAR NOT NULL,
    why VARCHAR NOT NULL,
    status INTEGER NOT NULL,
    entry_id BIGINT,
    exact BYTEA NOT NULL,
    score DOUBLE PRECISION,
    p_correct DOUBLE PRECISION,
    stored VARCHAR,
    stream BOOLEAN NOT NULL,
    collapsed BOOLEAN NOT NULL,
    requests BIGINT NOT NULL,
    saved_prompt_tokens BIGINT NOT NULL,
    saved_completion_tokens BIGINT NOT NULL,
    saved_cost DOUBLE PRECISION NOT NULL,
    spent_prompt_tokens BIGINT NOT NULL,
    spent_completion_tokens BIGINT NOT NULL,
    spent_cost DOUBLE PRECISION NOT NULL,
    seconds DOUBLE PRECISION NOT NULL,
    timings VARCHAR NOT NULL,
    PRIMARY KEY (id)
);

CREATE INDEX events_entry ON events (entry_id);

CREATE INDEX events_at ON events (at);

CREATE TABLE totals (
    category VARCHAR NOT NULL,
    outcome VARCHAR NOT NULL,
    requests BIGINT NOT NULL,
    saved_prompt_tokens BIGINT NOT NULL,
    saved_completion_tokens BIGINT NOT NULL,
    saved_cost DOUBLE PRECISION NOT NULL,
    spent_cost DOUBLE PRECISION NOT NULL,
    seconds DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (category, outcome)
);

CREATE TABLE api_keys (
    id VARCHAR NOT NULL,
    digest BYTEA NOT NULL,
    tenant VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    created DOUBLE PRECISION NOT NULL,
    trusted BOOLEAN NOT NULL,
    admin BOOLEAN NOT NULL,
    revoked DOUBLE PRECISION,
    PRIMARY KEY (id)
);

CREATE UNIQUE INDEX api_keys_digest ON api_keys (digest);

INSERT INTO semcache_version (version_num) VALUES ('0001') RETURNING semcache_version.version_num;

-- 0002

ALTER TABLE entries ADD COLUMN answer BIGINT DEFAULT '0' NOT NULL;

CREATE TABLE labels (
    seq BIGSERIAL NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    category VARCHAR NOT NULL,
    tenant VARCHAR NOT NULL,
    answer BIGINT NOT NULL,
    exact BYTEA NOT NULL,
    score DOUBLE PRECISION NOT NULL,
    features BYTEA NOT NULL,
    p_correct DOUBLE PRECISION NOT NULL,
    source VARCHAR NOT NULL,
    served BOOLEAN NOT NULL,
    chance DOUBLE PRECISION NOT NULL,
    entry_id BIGINT NOT NULL,
    correct BOOLEAN NOT NULL,
    PRIMARY KEY (seq)
);

CREATE TABLE learned (
    name VARCHAR NOT NULL,
    seq BIGINT NOT NULL,
    state BYTEA NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE judgements (
    id BIGSERIAL NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    category VARCHAR NOT NULL,
    tenant VARCHAR NOT NULL,
    answer BIGINT NOT NULL,
    exact BYTEA NOT NULL,
    score DOUBLE PRECISION NOT NULL,
    features BYTEA NOT NULL,
    p_correct DOUBLE PRECISION NOT NULL,
    source VARCHAR NOT NULL,
    served BOOLEAN NOT NULL,
    chance DOUBLE PRECISION NOT NULL,
    entry_id BIGINT NOT NULL,
    fresh_id BIGINT NOT NULL,
    tries INTEGER NOT NULL,
    free_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE,
    FOREIGN KEY(fresh_id) REFERENCES entries (id) ON DELETE CASCADE
);

CREATE INDEX judgements_entry ON judgements (entry_id);

CREATE INDEX judgements_fresh ON judgements (fresh_id);

CREATE INDEX judgements_free ON judgements (free_at);

UPDATE semcache_version SET version_num='0002' WHERE semcache_version.version_num = '0001';

-- 0003

CREATE TABLE plans (
    id BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    tenant VARCHAR NOT NULL,
    expires DOUBLE PRECISION NOT NULL,
    seal_key VARCHAR,
    embedder_id VARCHAR NOT NULL,
    vectors BYTEA NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (id)
);

CREATE UNIQUE INDEX plans_seq ON plans (seq);

CREATE INDEX plans_expires ON plans (expires);

UPDATE semcache_version SET version_num='0003' WHERE semcache_version.version_num = '0002';

-- 0004

CREATE TABLE reembedded (
    entry_id BIGINT NOT NULL,
    embedder_id VARCHAR NOT NULL,
    shelf BYTEA NOT NULL,
    dim INTEGER NOT NULL,
    data BYTEA NOT NULL,
    PRIMARY KEY (entry_id, embedder_id),
    FOREIGN KEY(entry_id) REFERENCES entries (id) ON DELETE CASCADE
);

UPDATE semcache_version SET version_num='0004' WHERE semcache_version.version_num = '0003';

-- 0005

ALTER TABLE totals ADD COLUMN calls BIGINT DEFAULT '0' NOT NULL;

ALTER TABLE totals ADD COLUMN spent_prompt_tokens BIGINT DEFAULT '0' NOT NULL;

ALTER TABLE totals ADD COLUMN spent_completion_tokens BIGINT DEFAULT '0' NOT NULL;

UPDATE semcache_version SET version_num='0005' WHERE semcache_version.version_num = '0004';
