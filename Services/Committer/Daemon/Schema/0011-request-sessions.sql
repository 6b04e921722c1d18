-- A user's requests over HTTP in a room are sessions of one commit each. They are bounded like the other sessions: beyond
-- the youngest p_most of them, those with an idempotency key included, the oldest go. One that was applied is still
-- recognized by its row in the log, for as long as that is kept; one that was refused is decided again.

-- When a session was first written; null: before this file. Unlike updated_at it never changes, so that an index on it
-- costs the commits of other sessions nothing (no heap-only update changes an indexed column).
ALTER TABLE sessions ADD COLUMN made_at timestamptz;
ALTER TABLE sessions ALTER COLUMN made_at SET DEFAULT clock_timestamp();
COMMENT ON COLUMN sessions.made_at IS 'when the session was first written; null: unknown, long ago';

CREATE INDEX sessions_requests ON sessions (room_id, user_id, made_at NULLS FIRST) WHERE substr(session, 1, 2) = 'h:';

-- Deletes the oldest requests of users beyond the youngest p_most in a room, with their refusals, unless they are younger
-- than ten minutes: that long a client surely repeats one whose answer it lost. The oldest 32 of a user in one call, so that
-- one who has very many young ones costs no more than others.
CREATE FUNCTION evict_requests(p_rooms text[], p_users text[], p_most integer) RETURNS void
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
    WITH evicted AS (
        DELETE FROM sessions AS s
        USING (SELECT DISTINCT u.room, u.usr FROM unnest(p_rooms, p_users) AS u (room, usr)) AS o,
            LATERAL (
                SELECT n.made_at FROM sessions AS n
                WHERE n.room_id = o.room AND n.user_id = o.usr AND substr(n.session, 1, 2) = 'h:'
                ORDER BY n.made_at DESC NULLS LAST OFFSET p_most LIMIT 1) AS youngest,
            LATERAL (
                SELECT n.session FROM sessions AS n
                WHERE n.room_id = o.room AND n.user_id = o.usr AND substr(n.session, 1, 2) = 'h:'
                    AND (n.made_at IS NULL OR n.made_at <= youngest.made_at)
                ORDER BY n.made_at NULLS FIRST LIMIT 32) AS old
        WHERE s.room_id = o.room AND s.session = old.session
            AND s.updated_at < clock_timestamp() - interval '10 minutes'
        RETURNING s.room_id, s.session
    )
    DELETE FROM refusals AS r USING evicted AS e WHERE r.room_id = e.room_id AND r.session = e.session;
END
$$;

-- evict_sessions as before, and requests.
CREATE OR REPLACE FUNCTION evict_sessions(p_rooms text[], p_users text[], p_most integer) RETURNS void
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
    IF p_most IS NULL THEN
        RETURN;
    END IF;
    PERFORM evict_requests(p_rooms, p_users, p_most);
    WITH evicted AS (
        DELETE FROM sessions AS s
        USING (SELECT DISTINCT u.room, u.usr FROM unnest(p_rooms, p_users) AS u (room, usr)) AS o,
            LATERAL (
                SELECT n.session FROM sessions AS n
                WHERE n.room_id = o.room AND n.user_id = o.usr AND substr(n.session, 2, 1) <> ':'
                ORDER BY n.session DESC OFFSET p_most) AS old
        WHERE s.room_id = o.room AND s.session = old.session
            AND s.updated_at < clock_timestamp() - interval '10 minutes'
        RETURNING s.room_id, s.user_id, s.session
    ), unused AS (
        DELETE FROM refusals AS r USING evicted AS e WHERE r.room_id = e.room_id AND r.session = e.session
    )
    INSERT INTO session_floors AS f (room_id, user_id, floor)
        SELECT e.room_id, e.user_id, max(split_part(e.session, '.', 1)) FROM evicted AS e GROUP BY e.room_id, e.user_id
        ON CONFLICT (room_id, user_id) DO UPDATE SET floor = greatest(f.floor, excluded.floor);
END
$$;
