/// The tables. Everything is keyed by room or shard, so that rooms can be spread over machines later on.
///
/// The CHECK constraints are the last line of defence, not the rules: they hold for every element type and every rules
/// file. `BETWEEN` refuses NaN and the infinities, because PostgreSQL orders NaN above every number.
enum SchemaSQL {
    static let tables = #"""
        CREATE TABLE meta (
            key   text COLLATE "C" PRIMARY KEY,
            value text COLLATE "C" NOT NULL
        );
        COMMENT ON TABLE meta IS 'epoch: names this database history; session_key: secret that seals session tokens';
        INSERT INTO meta (key, value) VALUES
            ('epoch', left(replace(gen_random_uuid()::text, '-', ''), 16)),
            ('session_key', replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''));

        -- One row per shard: its lock orders all commits of the shard's rooms. Updated by every batch, hence the room
        -- on its page for many row versions, which are pruned without an index ever being touched.
        CREATE TABLE shards (
            shard   smallint PRIMARY KEY CHECK (shard BETWEEN 0 AND 63),
            version bigint NOT NULL DEFAULT 0 CHECK (version >= 0),
            gseq    bigint NOT NULL DEFAULT 0 CHECK (gseq >= 0)
        ) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
                autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000);
        INSERT INTO shards (shard) SELECT generate_series(0, 63);

        CREATE TABLE rooms (
            room_id text COLLATE "C" PRIMARY KEY CHECK (room_id ~ '^[A-Za-z0-9_.:-]{1,64}$'),
            shard   smallint NOT NULL CHECK (shard BETWEEN 0 AND 63),
            seq     bigint NOT NULL CHECK (seq >= 0)
        ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

        CREATE TABLE elements (
            room_id         text COLLATE "C" NOT NULL CHECK (octet_length(room_id) BETWEEN 1 AND 64),
            element_id      text COLLATE "C" NOT NULL CHECK (octet_length(element_id) BETWEEN 1 AND 128),
            type            text COLLATE "C" NOT NULL CHECK (octet_length(type) <= 128),
            position_x      float8 NOT NULL CHECK (position_x BETWEEN -1e9 AND 1e9),
            position_y      float8 NOT NULL CHECK (position_y BETWEEN -1e9 AND 1e9),
            rotation        float8 NOT NULL CHECK (rotation >= 0 AND rotation < 360),
            scale_x         float8 NOT NULL CHECK (scale_x BETWEEN -1e10 AND 1e10),
            scale_y         float8 NOT NULL CHECK (scale_y BETWEEN -1e10 AND 1e10),
            original_width  float8 NOT NULL CHECK (original_width BETWEEN 0 AND 1e12),
            original_height float8 NOT NULL CHECK (original_height BETWEEN 0 AND 1e12),
            width           float8 NOT NULL GENERATED ALWAYS AS (original_width * abs(scale_x)) STORED
                            CHECK (width BETWEEN 0 AND 1e21),
            height          float8 NOT NULL GENERATED ALWAYS AS (original_height * abs(scale_y)) STORED
                            CHECK (height BETWEEN 0 AND 1e21),
            anchor_x        float8 NOT NULL CHECK (anchor_x BETWEEN -1e9 AND 1e9),
            anchor_y        float8 NOT NULL CHECK (anchor_y BETWEEN -1e9 AND 1e9),
            created_by      text COLLATE "C" NOT NULL CHECK (octet_length(created_by) BETWEEN 1 AND 256),
            updated_by      text COLLATE "C" NOT NULL CHECK (octet_length(updated_by) BETWEEN 1 AND 256),
            rev             bigint NOT NULL CHECK (rev >= 1),
            locked          boolean NOT NULL,
            snap_degrees    float8 CHECK (snap_degrees > 0 AND snap_degrees <= 180),
            bounds_x        float8 CHECK (bounds_x BETWEEN -1e12 AND 1e12),
            bounds_y        float8 CHECK (bounds_y BETWEEN -1e12 AND 1e12),
            bounds_width    float8 CHECK (bounds_width BETWEEN 0 AND 1e12),
            bounds_height   float8 CHECK (bounds_height BETWEEN 0 AND 1e12),
            font_size       float8 CHECK (abs(font_size) < 'Infinity'),
            z_index         float8 CHECK (abs(z_index) < 'Infinity'),
            space           text COLLATE "C" NOT NULL CHECK (space IN ('canvas', 'normalized')),
            parent_id       text COLLATE "C" CHECK (octet_length(parent_id) BETWEEN 1 AND 128),
            extra           json CHECK (extra::text LIKE '{%}' AND octet_length(extra::text) <= 16384),
            seq             bigint NOT NULL CHECK (seq > 0),
            deleted_seq     bigint CHECK (deleted_seq = seq),
            PRIMARY KEY (room_id, element_id),
            CONSTRAINT elements_position_check CHECK (
                CASE space
                    WHEN 'normalized' THEN position_x BETWEEN 0 AND 1 AND position_y BETWEEN 0 AND 1
                        AND parent_id IS NOT NULL
                    ELSE position_x = trunc(position_x) AND position_y = trunc(position_y)
                END),
            CONSTRAINT elements_bounds_check CHECK (
                num_nulls(bounds_x, bounds_y, bounds_width, bounds_height) IN (0, 4))
        ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
        CREATE INDEX elements_parent ON elements (room_id, parent_id) WHERE parent_id IS NOT NULL;
        COMMENT ON COLUMN elements.seq IS 'the room''s number of the last update of the element';
        COMMENT ON COLUMN elements.deleted_seq IS 'set once deleted: the row stays, so that its id is never used again';
        COMMENT ON COLUMN elements.extra IS 'the app''s own fields, verbatim; null: none';

        -- History, outbox and source of replays in one; only ever appended to.
        CREATE TABLE commit_log (
            room_id    text COLLATE "C" NOT NULL CHECK (octet_length(room_id) BETWEEN 1 AND 64),
            seq        bigint NOT NULL CHECK (seq > 0),
            gseq       bigint NOT NULL CHECK (gseq > 0),
            shard      smallint NOT NULL CHECK (shard BETWEEN 0 AND 63),
            at         timestamptz NOT NULL DEFAULT clock_timestamp(),
            event      text COLLATE "C" NOT NULL CHECK (event IN (
                           'element:transformed', 'element:created', 'elements:created', 'element:updated',
                           'element:deleted')),
            user_id    text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
            session    text COLLATE "C" NOT NULL CHECK (octet_length(session) BETWEEN 1 AND 128),
            n          bigint NOT NULL CHECK (n BETWEEN 1 AND 9007199254740991),
            gesture    bigint NOT NULL CHECK (gesture >= 0),
            element_id text COLLATE "C" CHECK (octet_length(element_id) BETWEEN 1 AND 128),
            body_hash  bigint NOT NULL,
            before     json,
            after      json,
            PRIMARY KEY (room_id, seq),
            CONSTRAINT commit_log_shard_order UNIQUE (shard, gseq),
            CONSTRAINT commit_log_once UNIQUE (room_id, session, n)
        ) WITH (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

        CREATE TABLE sessions (
            room_id    text COLLATE "C" NOT NULL CHECK (octet_length(room_id) BETWEEN 1 AND 64),
            session    text COLLATE "C" NOT NULL CHECK (octet_length(session) BETWEEN 1 AND 128),
            user_id    text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 256),
            hw         bigint NOT NULL CHECK (hw BETWEEN 0 AND 9007199254740991),
            claim      integer NOT NULL CHECK (claim >= 0),
            updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
            PRIMARY KEY (room_id, session)
        ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
        COMMENT ON COLUMN sessions.hw IS 'highest commit number used: all up to it have their final outcome';
        COMMENT ON COLUMN sessions.claim IS 'the newest owner; commits of an older one are refused';

        CREATE TABLE refusals (
            room_id   text COLLATE "C" NOT NULL CHECK (octet_length(room_id) BETWEEN 1 AND 64),
            session   text COLLATE "C" NOT NULL CHECK (octet_length(session) BETWEEN 1 AND 128),
            n         bigint NOT NULL CHECK (n BETWEEN 1 AND 9007199254740991),
            body_hash bigint NOT NULL,
            refusal   json NOT NULL CHECK (octet_length(refusal::text) <= 4096),
            PRIMARY KEY (room_id, session, n)
        ) WITH (autovacuum_vacuum_scale_factor = 0.05);
        """#
}
