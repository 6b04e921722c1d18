-- Sessions: streams of numbered commits, with their owner and their highest number.
--
-- The names that the fan-outs give to sessions begin with eight characters of time and sort by it. `session_floor` in
-- `meta` is such a beginning: a session whose name sorts before it and that has no row was swept away (or never used).
-- It is never started again, because its numbers are not known. The floor is raised in the transaction that sweeps, and
-- never lowered.

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

-- The last refusals of each session: a commit that was refused and comes again gets the same answer.
CREATE TABLE refusals (
    room_id   text COLLATE "C" NOT NULL CHECK (octet_length(room_id) BETWEEN 1 AND 64),
    session   text COLLATE "C" NOT NULL CHECK (octet_length(session) BETWEEN 1 AND 128),
    n         bigint NOT NULL CHECK (n BETWEEN 1 AND 9007199254740991),
    body_hash bigint NOT NULL,
    refusal   json NOT NULL CHECK (octet_length(refusal::text) <= 4096),
    PRIMARY KEY (room_id, session, n)
) WITH (autovacuum_vacuum_scale_factor = 0.05);

INSERT INTO meta (key, value) VALUES ('session_floor', '');

-- Gives a session a new owner by raising its claim, and returns the claim and the highest number. No row: the session
-- is another user's, or was swept away. It locks nothing but the session's row: commit_batch checks the claim of every
-- session that it writes.
CREATE FUNCTION claim_session(p_room text, p_session text, p_user text)
RETURNS TABLE (claim integer, hw bigint)
LANGUAGE plpgsql VOLATILE
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY UPDATE sessions AS s SET claim = s.claim + 1, updated_at = clock_timestamp()
        WHERE s.room_id = p_room AND s.session = p_session AND s.user_id = p_user
        RETURNING s.claim, s.hw;
    IF FOUND OR (length(p_session) = 15 AND p_session COLLATE "C" < (
        SELECT m.value FROM meta AS m WHERE m.key = 'session_floor')) THEN
        RETURN;
    END IF;
    -- A session that never committed has no row and its first owner has claim 1.
    RETURN QUERY INSERT INTO sessions AS s (room_id, session, user_id, hw, claim)
        VALUES (p_room, p_session, p_user, 0, 2)
        ON CONFLICT (room_id, session) DO UPDATE
            SET claim = s.claim + 1, updated_at = clock_timestamp()
            WHERE s.user_id = excluded.user_id
        RETURNING s.claim, s.hw;
END
$$;

-- The first eight characters of the session names that are given at a time.
CREATE FUNCTION session_prefix(p_at timestamptz) RETURNS text
LANGUAGE sql STABLE
AS $$
    SELECT string_agg(substr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz',
            (((floor(extract(epoch FROM p_at) * 1000)::bigint >> (42 - 6 * i)) & 63) + 1)::integer, 1),
            '' ORDER BY i)
    FROM generate_series(0, 7) AS i
$$;

-- Deletes up to 5000 sessions that were idle for p_idle_days, with their refusals, and returns how many; 0 when nothing
-- is left to do today, or when another committer is at it. A day's slack covers clocks that differ.
--
-- The sessions of HTTP's idempotency keys (`h:`) have one number only. They may start again once that number has left
-- the log, so they are deleted a day after the log.
--
-- The advisory lock is "tchsweep" in ASCII.
CREATE FUNCTION sweep_sessions(
    p_idle_days integer, p_log_days integer, p_now timestamptz DEFAULT clock_timestamp()
) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET timezone = 'UTC' SET lock_timeout = '500ms'
AS $$
DECLARE
    today text := to_char(p_now, 'YYYYMMDD');
    idle timestamptz := date_trunc('day', p_now) - make_interval(days => p_idle_days);
    keyed timestamptz := date_trunc('day', p_now) - make_interval(days => p_log_days + 1);
    gone bigint;
BEGIN
    IF NOT pg_try_advisory_xact_lock(8386661776227657072)
        OR (SELECT m.value FROM meta AS m WHERE m.key = 'sessions_swept') >= today THEN
        RETURN 0;
    END IF;
    UPDATE meta AS m SET value = session_prefix(idle + interval '1 day')
        WHERE m.key = 'session_floor' AND m.value < session_prefix(idle + interval '1 day');
    WITH swept AS (
        DELETE FROM sessions AS s
        WHERE s.ctid = ANY (ARRAY(
                SELECT o.ctid FROM sessions AS o
                WHERE o.updated_at < CASE WHEN o.session LIKE 'h:%' THEN keyed ELSE idle END LIMIT 5000))
            AND s.updated_at < CASE WHEN s.session LIKE 'h:%' THEN keyed ELSE idle END
        RETURNING s.room_id, s.session
    ), unused AS (
        DELETE FROM refusals AS r USING swept AS s WHERE r.room_id = s.room_id AND r.session = s.session
    )
    SELECT count(*) INTO gone FROM swept;
    IF gone = 0 THEN
        INSERT INTO meta (key, value) VALUES ('sessions_swept', today)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value;
    END IF;
    RETURN gone;
END
$$;
