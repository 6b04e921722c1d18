/// The end of sessions that nobody uses any more.
///
/// The names that the fan-outs give to sessions begin with eight characters of time and sort by it. `session_floor` in
/// `meta` is such a beginning: a session whose name sorts before it and that has no row was swept away (or never used),
/// and is never begun anew: its numbers are not known. It is raised in the transaction that sweeps, never lowered.
enum SessionSweepSQL {
    /// The first eight characters of the names that are given at a time.
    static let sessionPrefix = #"""
        INSERT INTO meta (key, value) VALUES ('session_floor', '');
        CREATE FUNCTION session_prefix(p_at timestamptz) RETURNS text
        LANGUAGE sql STABLE
        AS $$
            SELECT string_agg(substr('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz',
                    (((floor(extract(epoch FROM p_at) * 1000)::bigint >> (42 - 6 * i)) & 63) + 1)::integer, 1),
                    '' ORDER BY i)
            FROM generate_series(0, 7) AS i
        $$;
        """#

    /// Forgets up to 5000 sessions that were idle for so many days, with their refusals, and tells how many; 0 when
    /// nothing is left to do today, or somebody else is at it. A day's slack covers clocks that differ.
    ///
    /// The sessions of HTTP's idempotency keys (`h:`) have one number only. They may begin anew once the log does not
    /// have that number any more, so they go a day after the log.
    static let sweepSessions = #"""
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
            IF NOT pg_try_advisory_xact_lock(\#(Self.lockKey))
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
        """#

    /// As before, but a session that was swept away gets no new owner.
    static let claimSession = #"""
        CREATE OR REPLACE FUNCTION claim_session(p_room text, p_session text, p_user text)
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
        """#

    /// Held by who sweeps, for one step ("tchsweep" in ASCII).
    private static let lockKey: Int64 = 0x7463_6873_7765_6570

    /// Everything, in the order in which it is created.
    static let all = [Self.sessionPrefix, Self.sweepSessions, Self.claimSession]
}
