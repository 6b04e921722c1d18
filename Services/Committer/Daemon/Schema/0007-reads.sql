-- The functions that read. All are STABLE: every statement inside sees the snapshot of the one statement that called, so
-- an answer is the state at one moment. They are plpgsql because that keeps their plans between calls, and have the
-- planner pinned to index look-ups, because a plan made while the tables were empty would scan them later.

-- What a committer needs to decide a batch, in one round trip and one snapshot. Rows by `kind`:
--
--     kind        room_id key     n           seq      hash  detail before after
--     0 shard     -       -       version     gseq     chain session_floor
--     1 room      room    -       -           seq
--     2 session   room    session hw          claim          user
--     3 element   room    element deleted_seq seq                          flat JSON (null when deleted)
--     4 applied   room    session n           seq      hash  event  before after
--     5 refused   room    session n           -        hash                refusal JSON
--
-- What does not exist has no row. With `e_family` the living children of the element come along.
CREATE FUNCTION load_shard_state(
    p_shard smallint, r_room text[], s_room text[], s_session text[], e_room text[], e_id text[],
    e_family boolean[], d_room text[], d_session text[], d_n bigint[]
) RETURNS TABLE (
    kind smallint, room_id text, key text, n bigint, seq bigint, hash bigint, detail text, before text,
    after text)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET extra_float_digits = 1
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT 0::smallint, NULL::text, NULL::text, s.version, s.gseq, s.chain,
        (SELECT m.value FROM meta AS m WHERE m.key = 'session_floor'), NULL::text, NULL::text
        FROM shards AS s WHERE s.shard = p_shard;
    IF cardinality(r_room) > 0 THEN
        RETURN QUERY SELECT 1::smallint, r.room_id, NULL::text, NULL::bigint, r.seq, NULL::bigint, NULL::text,
            NULL::text, NULL::text
            FROM unnest(r_room) AS k (room) JOIN rooms AS r ON r.room_id = k.room;
    END IF;
    IF cardinality(s_room) > 0 THEN
        RETURN QUERY SELECT 2::smallint, s.room_id, s.session, s.hw, s.claim::bigint, NULL::bigint, s.user_id,
            NULL::text, NULL::text
            FROM unnest(s_room, s_session) AS k (room, session)
            JOIN sessions AS s ON s.room_id = k.room AND s.session = k.session;
    END IF;
    IF cardinality(e_room) > 0 THEN
        RETURN QUERY SELECT 3::smallint, e.room_id, e.element_id, e.deleted_seq, e.seq, NULL::bigint,
            NULL::text, NULL::text, CASE WHEN e.deleted_seq IS NULL THEN element_json(e) END
            FROM unnest(e_room, e_id) AS k (room, id)
            JOIN elements AS e ON e.room_id = k.room AND e.element_id = k.id;
        RETURN QUERY SELECT 3::smallint, e.room_id, e.element_id, e.deleted_seq, e.seq, NULL::bigint,
            NULL::text, NULL::text, element_json(e)
            FROM unnest(e_room, e_id, e_family) AS k (room, id, family)
            JOIN elements AS e ON e.room_id = k.room AND e.parent_id = k.id
            WHERE k.family AND e.deleted_seq IS NULL;
    END IF;
    IF cardinality(d_room) > 0 THEN
        RETURN QUERY SELECT 4::smallint, l.room_id, l.session, l.n, l.seq, l.body_hash, l.event,
            l.before::text, l.after::text
            FROM unnest(d_room, d_session, d_n) AS k (room, session, n)
            JOIN commit_log AS l ON l.room_id = k.room AND l.session = k.session AND l.n = k.n;
        RETURN QUERY SELECT 5::smallint, f.room_id, f.session, f.n, NULL::bigint, f.body_hash, NULL::text,
            NULL::text, f.refusal::text
            FROM unnest(d_room, d_session, d_n) AS k (room, session, n)
            JOIN refusals AS f ON f.room_id = k.room AND f.session = k.session AND f.n = k.n;
    END IF;
END
$$;

-- A room at one moment: one row per living element, or one row without element when there is none. The name of the
-- history, the shard's last number and chain, and the room's last number stand in every row.
CREATE FUNCTION read_room(p_room text, p_shard smallint)
RETURNS TABLE (
    epoch text, gseq bigint, seq bigint, element_id text, element_seq bigint, element text, chain bigint)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET extra_float_digits = 1
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT m.value, s.gseq, coalesce(r.seq, 0), e.element_id, e.seq, element_json(e), s.chain
        FROM meta AS m
        JOIN shards AS s ON s.shard = p_shard
        LEFT JOIN rooms AS r ON r.room_id = p_room
        LEFT JOIN elements AS e ON e.room_id = p_room AND e.deleted_seq IS NULL
        WHERE m.key = 'epoch';
END
$$;

-- At most p_limit rows of a room's log after a number, in order.
CREATE FUNCTION read_room_log(p_room text, p_after bigint, p_limit integer)
RETURNS TABLE (
    shard smallint, gseq bigint, room_id text, seq bigint, at timestamptz, event text, user_id text,
    session text, n bigint, gestures text, element_id text, before text, after text, body_hash bigint,
    chain bigint)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_sort = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT l.shard, l.gseq, l.room_id, l.seq, l.at, l.event, l.user_id, l.session, l.n, l.gestures::text,
        l.element_id, l.before::text, l.after::text, l.body_hash, l.chain
        FROM commit_log AS l WHERE l.room_id = p_room AND l.seq > p_after
        ORDER BY l.room_id, l.seq LIMIT p_limit;
END
$$;

-- At most p_limit rows of a shard's log after a number, in order.
CREATE FUNCTION read_shard_log(p_shard smallint, p_after_gseq bigint, p_limit integer)
RETURNS TABLE (
    shard smallint, gseq bigint, room_id text, seq bigint, at timestamptz, event text, user_id text,
    session text, n bigint, gestures text, element_id text, before text, after text, body_hash bigint,
    chain bigint)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_sort = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT l.shard, l.gseq, l.room_id, l.seq, l.at, l.event, l.user_id, l.session, l.n, l.gestures::text,
        l.element_id, l.before::text, l.after::text, l.body_hash, l.chain
        FROM commit_log AS l WHERE l.shard = p_shard AND l.gseq > p_after_gseq
        ORDER BY l.shard, l.gseq LIMIT p_limit;
END
$$;

-- The last number and the chain of every shard.
CREATE FUNCTION shard_heads() RETURNS TABLE (shard smallint, gseq bigint, chain bigint)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.shard, s.gseq, s.chain FROM shards AS s ORDER BY s.shard
$$;
