-- An undo passes over entries of which nothing is left to take back, because others have changed the same since: a hundred
-- of them in a row were a hundred look-ups, one after the other, each as long as the way to the database, while the shard
-- waited. Entries below the one that is asked for can be read with it, as long as those so far have fewer rows than h_ahead
-- says, and less than 256 KiB; 0: that one only.

-- load_shard_state as before, and h_ahead.
DROP FUNCTION load_shard_state;
CREATE FUNCTION load_shard_state(
    p_shard smallint, r_room text[], s_room text[], s_session text[], e_room text[], e_id text[],
    e_family boolean[], d_room text[], d_session text[], d_n bigint[],
    u_room text[] DEFAULT '{}', u_user text[] DEFAULT '{}', h_room text[] DEFAULT '{}', h_seq bigint[] DEFAULT '{}',
    a_room text[] DEFAULT '{}', a_id text[] DEFAULT '{}', s_user text[] DEFAULT '{}',
    h_ahead bigint[] DEFAULT '{}'
) RETURNS TABLE (
    kind smallint, room_id text, key text, n bigint, seq bigint, hash bigint, detail text, before text,
    after text, undo json)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET extra_float_digits = 1
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT 0::smallint, NULL::text, NULL::text, s.version, s.gseq, s.chain,
        (SELECT m.value FROM meta AS m WHERE m.key = 'session_floor'), NULL::text, NULL::text, NULL::json
        FROM shards AS s WHERE s.shard = p_shard;
    IF cardinality(r_room) > 0 THEN
        RETURN QUERY SELECT 1::smallint, r.room_id, NULL::text, t.elements::bigint, r.seq, t.bytes, NULL::text,
            NULL::text, NULL::text, NULL::json
            FROM unnest(r_room) AS k (room)
            CROSS JOIN LATERAL (SELECT * FROM rooms AS o WHERE o.room_id = k.room OFFSET 0) AS r
            CROSS JOIN LATERAL (
                SELECT r.elements, r.bytes WHERE r.bytes IS NOT NULL
                UNION ALL
                SELECT c.elements, c.bytes FROM room_totals(r.room_id) AS c WHERE r.bytes IS NULL) AS t;
    END IF;
    IF cardinality(s_room) > 0 THEN
        RETURN QUERY SELECT 2::smallint, s.room_id, s.session, s.hw, s.claim::bigint, NULL::bigint, s.user_id,
            NULL::text, NULL::text, NULL::json
            FROM unnest(s_room, s_session) AS k (room, session)
            CROSS JOIN LATERAL (
                SELECT * FROM sessions AS o WHERE o.room_id = k.room AND o.session = k.session OFFSET 0) AS s;
        RETURN QUERY SELECT 9::smallint, k.room, k.session, NULL::bigint, NULL::bigint, NULL::bigint, NULL::text,
            NULL::text, NULL::text, NULL::json
            FROM unnest(s_room, s_session, s_user) AS k (room, session, usr)
            WHERE is_session_evicted(k.room, k.session, k.usr);
    END IF;
    IF cardinality(e_room) > 0 THEN
        RETURN QUERY SELECT 3::smallint, e.room_id, e.element_id, e.deleted_seq, e.seq, NULL::bigint,
            NULL::text, NULL::text, e.text, NULL::json
            FROM unnest(e_room, e_id) AS k (room, id)
            CROSS JOIN LATERAL (
                SELECT o.room_id, o.element_id, o.deleted_seq, o.seq,
                    CASE WHEN o.deleted_seq IS NULL THEN element_json(o) END AS text
                FROM elements AS o WHERE o.room_id = k.room AND o.element_id = k.id OFFSET 0) AS e;
        RETURN QUERY SELECT 3::smallint, e.room_id, e.element_id, e.deleted_seq, e.seq, NULL::bigint,
            NULL::text, NULL::text, e.text, NULL::json
            FROM unnest(e_room, e_id, e_family) AS k (room, id, family)
            CROSS JOIN LATERAL (
                SELECT o.room_id, o.element_id, o.deleted_seq, o.seq, element_json(o) AS text FROM elements AS o
                WHERE o.room_id = k.room AND o.parent_id = k.id AND o.deleted_seq IS NULL OFFSET 0) AS e
            WHERE k.family;
    END IF;
    IF cardinality(d_room) > 0 THEN
        RETURN QUERY SELECT 4::smallint, l.room_id, l.session, l.n, l.seq, l.body_hash, l.event,
            l.before::text, l.after::text, l.undone
            FROM unnest(d_room, d_session, d_n) AS k (room, session, n)
            CROSS JOIN LATERAL (
                SELECT * FROM commit_log AS o
                WHERE o.room_id = k.room AND o.session = k.session AND o.n = k.n OFFSET 0) AS l;
        RETURN QUERY SELECT 5::smallint, f.room_id, f.session, f.n, NULL::bigint, f.body_hash, NULL::text,
            NULL::text, f.refusal::text, NULL::json
            FROM unnest(d_room, d_session, d_n) AS k (room, session, n)
            CROSS JOIN LATERAL (
                SELECT * FROM refusals AS o
                WHERE o.room_id = k.room AND o.session = k.session AND o.n = k.n OFFSET 0) AS f;
    END IF;
    IF cardinality(u_room) > 0 THEN
        RETURN QUERY SELECT 6::smallint, k.room, k.usr, NULL::bigint, NULL::bigint, NULL::bigint, NULL::text,
            NULL::text, NULL::text, json_build_object(
                'version', t.undo_version, 'undo', t.undo_head, 'undoDepth', t.undo_depth, 'redo', t.redo_head,
                'redoDepth', t.redo_depth, 'group', t.undo_group, 'groupRows', t.undo_group_rows,
                'groupBytes', t.undo_group_bytes)
            FROM unnest(u_room, u_user) AS k (room, usr)
            CROSS JOIN LATERAL (
                SELECT r.* FROM (
                    SELECT s.* FROM sessions AS s
                    WHERE s.room_id = k.room AND s.user_id = k.usr AND substr(s.session, 2, 1) <> ':'
                    ORDER BY s.session DESC LIMIT 1000) AS r
                ORDER BY r.undo_version DESC LIMIT 1) AS t;
    END IF;
    IF cardinality(h_room) > 0 THEN
        RETURN QUERY
            WITH RECURSIVE entry AS (
                SELECT l.*, k.seq AS head, coalesce(k.ahead, 0) AS ahead, 1 AS nth,
                    octet_length(concat(l.before, l.after)) AS bytes
                FROM unnest(h_room, h_seq, h_ahead) AS k (room, seq, ahead)
                CROSS JOIN LATERAL (
                    SELECT * FROM commit_log AS o WHERE o.room_id = k.room AND o.seq = k.seq OFFSET 0) AS l
                UNION ALL
                SELECT l.*, CASE WHEN e.undo_rest > 0 THEN e.head ELSE l.seq END, e.ahead, e.nth + 1,
                    e.bytes + octet_length(concat(l.before, l.after))
                FROM entry AS e
                CROSS JOIN LATERAL (
                    SELECT * FROM commit_log AS o
                    WHERE o.room_id = e.room_id AND o.seq = e.undo_next OFFSET 0) AS l
                WHERE e.undo_rest > 0 OR (e.nth < e.ahead AND e.bytes < 262144)
            )
            SELECT 7::smallint, e.room_id, NULL::text, e.head, e.seq, NULL::bigint, e.event, e.before::text,
                e.after::text, json_build_object('next', e.undo_next, 'rest', e.undo_rest)
            FROM entry AS e ORDER BY e.room_id, e.head, e.seq DESC;
    END IF;
    IF cardinality(a_room) > 0 THEN
        RETURN QUERY SELECT 8::smallint, k.room, k.id, c.annotations, NULL::bigint, NULL::bigint, NULL::text,
            NULL::text, NULL::text, NULL::json
            FROM unnest(a_room, a_id) AS k (room, id)
            CROSS JOIN LATERAL (
                SELECT count(*) AS annotations FROM elements AS e
                WHERE e.room_id = k.room AND e.parent_id = k.id AND e.deleted_seq IS NULL) AS c;
    END IF;
END
$$;
