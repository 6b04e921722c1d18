-- The commit log: history, outbox and source of replays in one. Rows are only ever inserted.
--
-- It is partitioned by day, so that whole days can be dropped. A key of a partitioned table must contain the day, so
-- each partition has keys of its own and none holds over all of them. That is enough: the numbers of a room and of a
-- shard come from rows that move from one version to the next under the shard's lock, and a session's number is only
-- used when it is above the session's highest.

-- One function instead of a CHECK per column, as with element_is_sound. The name of an event is checked by its grammar,
-- so that a new kind of edit needs no migration. The regular expression costs 0.9 µs: the most frequent event is
-- compared first.
CREATE FUNCTION log_row_is_sound(
    room_id text, seq bigint, gseq bigint, shard smallint, event text, user_id text, session text, n bigint,
    gestures json, element_id text
) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN octet_length(room_id) BETWEEN 1 AND 64 AND seq > 0 AND gseq > 0 AND shard BETWEEN 0 AND 63
        AND (event = 'element:transformed' OR octet_length(event) <= 64 AND event ~ '^[a-z]+:[a-z]+$')
        AND octet_length(user_id) BETWEEN 1 AND 256 AND octet_length(session) BETWEEN 1 AND 128
        AND n BETWEEN 1 AND 9007199254740991 AND (gestures IS NULL OR json_typeof(gestures) = 'object')
        AND (element_id IS NULL OR octet_length(element_id) BETWEEN 1 AND 128);
END
$$;

CREATE TABLE commit_log (
    room_id    text COLLATE "C" NOT NULL,
    seq        bigint NOT NULL,
    gseq       bigint NOT NULL,
    shard      smallint NOT NULL,
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    event      text COLLATE "C" NOT NULL,
    user_id    text COLLATE "C" NOT NULL,
    session    text COLLATE "C" NOT NULL,
    n          bigint NOT NULL,
    gestures   json,
    element_id text COLLATE "C",
    body_hash  bigint NOT NULL,
    before     json,
    after      json,
    chain      bigint NOT NULL DEFAULT 0,
    CONSTRAINT commit_log_check CHECK (log_row_is_sound(
        room_id, seq, gseq, shard, event, user_id, session, n, gestures, element_id))
) PARTITION BY RANGE (at);
COMMENT ON COLUMN commit_log.gestures IS 'the gestures that the commit ended: their numbers under the ids of their elements';
COMMENT ON COLUMN commit_log.chain IS 'shards.chain after the row';

-- Rows of a day without a partition of its own, so that a commit never fails for want of one. All other partitions are
-- made in its image.
CREATE TABLE commit_log_rest (
    LIKE commit_log INCLUDING ALL, PRIMARY KEY (room_id, seq), UNIQUE (room_id, session, n), UNIQUE (shard, gseq));
ALTER TABLE commit_log ATTACH PARTITION commit_log_rest DEFAULT;

-- The first partition ends with the day on which the database was made. maintain_log makes the following days.
CREATE TABLE commit_log_first (LIKE commit_log_rest INCLUDING ALL) WITH (
    autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
DO $$
BEGIN
    PERFORM set_config('timezone', 'UTC', true);
    EXECUTE format('ALTER TABLE commit_log ATTACH PARTITION commit_log_first FOR VALUES FROM (MINVALUE) TO (%L)',
        date_trunc('day', clock_timestamp()) + interval '1 day');
END
$$;

-- The partitions that hold days, with their bounds.
CREATE FUNCTION log_partitions() RETURNS TABLE (name text, lower timestamptz, upper timestamptz)
LANGUAGE sql STABLE SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
AS $$
    SELECT c.relname::text,
        coalesce(substring(b.bound FROM 'FROM \(''([^'']+)''\)')::timestamptz, '-infinity'),
        substring(b.bound FROM 'TO \(''([^'']+)''\)')::timestamptz
    FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
    CROSS JOIN LATERAL (SELECT pg_get_expr(c.relpartbound, c.oid)) AS b (bound)
    WHERE i.inhparent = 'commit_log'::regclass AND b.bound <> 'DEFAULT'
$$;

-- One step of the log's upkeep: makes one missing day of today and the next three, otherwise drops one day that is older
-- than p_keep_days. Returns what it did; NULL when nothing was left to do, or when another committer is at it.
--
-- A day is made beside the log and then attached, which commits do not wait for. Dropping one locks the whole log for a
-- moment: when the lock is not free within half a second, the step fails and the next round tries again.
--
-- The advisory lock is "tchskeep" in ASCII.
CREATE FUNCTION maintain_log(p_keep_days integer, p_now timestamptz DEFAULT clock_timestamp()) RETURNS text
LANGUAGE plpgsql VOLATILE SET timezone = 'UTC' SET datestyle = 'ISO, YMD' SET lock_timeout = '500ms'
AS $$
DECLARE
    today timestamptz := date_trunc('day', p_now);
    day timestamptz;
    part text;
BEGIN
    IF NOT pg_try_advisory_xact_lock(8386661776026330480) THEN
        RETURN NULL;
    END IF;
    SELECT d INTO day FROM generate_series(today, today + interval '3 days', interval '1 day') AS d
        WHERE NOT EXISTS (SELECT FROM log_partitions() AS p WHERE p.lower <= d AND d < p.upper)
        ORDER BY d LIMIT 1;
    IF FOUND THEN
        part := 'commit_log_' || to_char(day, 'YYYYMMDD');
        -- What had no partition moves to the one that is made for it.
        LOCK TABLE commit_log_rest IN ACCESS EXCLUSIVE MODE;
        EXECUTE format('CREATE TABLE %I (LIKE commit_log_rest INCLUDING ALL) WITH ('
            'autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05)', part);
        EXECUTE format('WITH moved AS (DELETE FROM commit_log_rest WHERE at >= %L AND at < %L RETURNING *)
            INSERT INTO %I SELECT * FROM moved', day, day + interval '1 day', part);
        EXECUTE format('ALTER TABLE commit_log ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', part, day,
            day + interval '1 day');
        RETURN 'made ' || part;
    END IF;
    SELECT p.name INTO part FROM log_partitions() AS p
        WHERE p.upper <= today - make_interval(days => p_keep_days) ORDER BY p.upper LIMIT 1;
    IF FOUND THEN
        EXECUTE format('DROP TABLE %I', part);
        RETURN 'dropped ' || part;
    END IF;
    DELETE FROM commit_log_rest WHERE at < today - make_interval(days => p_keep_days);
    RETURN NULL;
END
$$;
