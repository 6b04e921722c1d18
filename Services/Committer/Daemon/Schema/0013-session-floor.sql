-- sweep_sessions as before, but a clock decides only what is swept. The mark behind which a session without a row has ended
-- was the time of the sweep, less the days: a database whose clock had been a month ahead, for one sweep, refused all
-- sessions that were made from then on, until that month was over. The mark is the youngest session that was swept. None
-- younger than it can have had a row that is gone; an older one that never had any is refused, and its app joins without it.
-- And a sweep that was made under a date to come keeps no other from being made until then.
CREATE OR REPLACE FUNCTION sweep_sessions(
    p_idle_days integer, p_log_days integer, p_now timestamptz DEFAULT clock_timestamp()
) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET timezone = 'UTC' SET lock_timeout = '500ms'
AS $$
DECLARE
    today text := to_char(p_now, 'YYYYMMDD');
    idle timestamptz := date_trunc('day', p_now) - make_interval(days => p_idle_days);
    keyed timestamptz := date_trunc('day', p_now) - make_interval(days => p_log_days + 1);
    unkeyed timestamptz := date_trunc('day', p_now) - interval '1 day';
    gone bigint;
    youngest text COLLATE "C";
BEGIN
    IF NOT pg_try_advisory_xact_lock(8386661776227657072)
        OR (SELECT m.value FROM meta AS m WHERE m.key = 'sessions_swept') = today THEN
        RETURN 0;
    END IF;
    WITH swept AS (
        DELETE FROM sessions AS s
        WHERE s.ctid = ANY (ARRAY(
                SELECT o.ctid FROM sessions AS o
                WHERE o.updated_at < CASE WHEN o.session NOT LIKE 'h:%' THEN idle
                    WHEN length(o.session) < 34 THEN unkeyed ELSE keyed END LIMIT 5000))
            AND s.updated_at < CASE WHEN s.session NOT LIKE 'h:%' THEN idle
                WHEN length(s.session) < 34 THEN unkeyed ELSE keyed END
        RETURNING s.room_id, s.session
    ), unused AS (
        DELETE FROM refusals AS r USING swept AS s WHERE r.room_id = s.room_id AND r.session = s.session
    )
    SELECT count(*), max(CASE WHEN length(split_part(s.session, '.', 1)) = 15 AND substr(s.session, 2, 1) <> ':'
        THEN split_part(s.session, '.', 1) END) INTO gone, youngest FROM swept AS s;
    -- Everything before the mark has ended; `~` sorts behind all that a name has.
    UPDATE meta AS m SET value = youngest || '~' WHERE m.key = 'session_floor' AND m.value < youngest || '~';
    IF gone = 0 THEN
        INSERT INTO meta (key, value) VALUES ('sessions_swept', today)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value;
    END IF;
    RETURN gone;
END
$$;
