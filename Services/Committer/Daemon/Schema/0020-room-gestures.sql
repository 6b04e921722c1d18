-- The gestures that a room's commits have ended for as long as p_age, by element and session: of each the highest. A preview
-- of one of them may still be under way.
--
-- The newest of the older commits is found backwards through the room's log, so that no more of it is read than p_age made.
-- A day is two partitions at most; a room that rested for longer has nothing else in them.
CREATE FUNCTION read_room_gestures(p_room text, p_age interval)
RETURNS TABLE (element_id text, session text, gesture bigint)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET jit = off SET enable_seqscan = off SET max_parallel_workers_per_gather = 0
AS $$
#variable_conflict use_column
DECLARE
    older bigint;
BEGIN
    SELECT l.seq INTO older FROM commit_log AS l
    WHERE l.room_id = p_room AND l.at <= now() - p_age AND l.at > now() - interval '1 day'
    ORDER BY l.room_id DESC, l.seq DESC LIMIT 1;
    RETURN QUERY SELECT g.key, l.session, max(g.value::bigint)
        FROM commit_log AS l CROSS JOIN LATERAL json_each_text(l.gestures) AS g
        WHERE l.room_id = p_room AND l.seq > coalesce(older, 0) AND l.at > now() - p_age AND l.gestures IS NOT NULL
        GROUP BY g.key, l.session;
END
$$;
