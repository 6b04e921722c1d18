-- An undo deletes what its user has created only while nobody else has worked on that since. So an element has, beside
-- its last change (`updated_by`, `seq`), the last one by anybody else: whoever asks, it is known when others changed it.
-- It is kept when the element is deleted, for an undo that brings it back.

ALTER TABLE elements
    ADD COLUMN other_by  text COLLATE "C",
    ADD COLUMN other_seq bigint;
COMMENT ON COLUMN elements.other_by IS 'the last user that changed it, apart from updated_by; null: nobody else did';
COMMENT ON COLUMN elements.other_seq IS 'the room''s number of that change';

-- commit_batch as before, and these two, which may be left out.
DROP FUNCTION commit_batch;
CREATE FUNCTION commit_batch(
    p_shard smallint, p_version bigint, p_base bigint, p_gseq bigint, p_chain bigint,
    r_room text[], r_seq bigint[],
    e_room text[], e_id text[], e_type text[], e_position_x float8[], e_position_y float8[],
    e_rotation float8[], e_scale_x float8[], e_scale_y float8[], e_original_width float8[],
    e_original_height float8[], e_anchor_x float8[], e_anchor_y float8[], e_created_by text[],
    e_updated_by text[], e_rev bigint[], e_locked boolean[], e_snap_degrees float8[], e_bounds_x float8[],
    e_bounds_y float8[], e_bounds_width float8[], e_bounds_height float8[], e_font_size float8[],
    e_z_index float8[], e_space text[], e_parent_id text[], e_extra json[], e_seq bigint[],
    e_deleted_seq bigint[],
    l_room text[], l_seq bigint[], l_gseq bigint[], l_event text[], l_user text[], l_session text[],
    l_n bigint[], l_gestures json[], l_element text[], l_hash bigint[], l_before json[], l_after json[],
    l_chain bigint[],
    s_room text[], s_session text[], s_user text[], s_hw bigint[], s_claim integer[],
    f_room text[], f_session text[], f_n bigint[], f_hash bigint[], f_refusal json[],
    e_restored boolean[] DEFAULT NULL,
    l_undo_next bigint[] DEFAULT NULL, l_undo_rest integer[] DEFAULT NULL, l_cause text[] DEFAULT NULL,
    l_undone json[] DEFAULT NULL,
    s_undo_version bigint[] DEFAULT NULL, s_undo_head bigint[] DEFAULT NULL, s_undo_depth integer[] DEFAULT NULL,
    s_redo_head bigint[] DEFAULT NULL, s_redo_depth integer[] DEFAULT NULL, s_undo_group text[] DEFAULT NULL,
    s_undo_group_rows integer[] DEFAULT NULL, s_undo_group_bytes bigint[] DEFAULT NULL,
    r_elements integer[] DEFAULT NULL, r_bytes bigint[] DEFAULT NULL, p_user_sessions integer DEFAULT NULL,
    e_other_by text[] DEFAULT NULL, e_other_seq bigint[] DEFAULT NULL
) RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    written bigint;
    added bigint;
BEGIN
    UPDATE shards SET version = version + 1, gseq = p_gseq, chain = p_chain
    WHERE shard = p_shard AND version = p_version AND chain = p_base;
    IF NOT FOUND THEN
        RETURN false;
    END IF;

    IF cardinality(s_room) > 0 THEN
        -- claim_session() may raise a claim at any time, without the shard's lock: the row itself decides.
        UPDATE sessions AS s SET
            hw = u.hw, updated_at = clock_timestamp(), undo_version = coalesce(u.version, s.undo_version),
            undo_head = coalesce(u.undo, s.undo_head), undo_depth = coalesce(u.undo_depth, s.undo_depth),
            redo_head = coalesce(u.redo, s.redo_head), redo_depth = coalesce(u.redo_depth, s.redo_depth),
            undo_group = u.grp, undo_group_rows = coalesce(u.group_rows, 0),
            undo_group_bytes = coalesce(u.group_bytes, 0)
        FROM (
            SELECT k.*, o.row FROM unnest(
                s_room, s_session, s_user, s_hw, s_claim, s_undo_version, s_undo_head, s_undo_depth, s_redo_head,
                s_redo_depth, s_undo_group, s_undo_group_rows, s_undo_group_bytes) AS k (
                room, session, usr, hw, claim, version, undo, undo_depth, redo, redo_depth, grp, group_rows,
                group_bytes)
            CROSS JOIN LATERAL (
                SELECT o.ctid AS row FROM sessions AS o
                WHERE o.room_id = k.room AND o.session = k.session OFFSET 0) AS o OFFSET 0) AS u
        WHERE s.ctid = u.row AND s.claim = u.claim AND s.user_id = u.usr AND s.hw < u.hw;
        GET DIAGNOSTICS written = ROW_COUNT;
        IF written <> cardinality(s_room) THEN
            INSERT INTO sessions (
                room_id, session, user_id, hw, claim, undo_version, undo_head, undo_depth, redo_head, redo_depth,
                undo_group, undo_group_rows, undo_group_bytes)
            SELECT u.room, u.session, u.usr, u.hw, u.claim, coalesce(u.version, 0), coalesce(u.undo, 0),
                coalesce(u.undo_depth, 0), coalesce(u.redo, 0), coalesce(u.redo_depth, 0), u.grp,
                coalesce(u.group_rows, 0), coalesce(u.group_bytes, 0)
            FROM unnest(
                s_room, s_session, s_user, s_hw, s_claim, s_undo_version, s_undo_head, s_undo_depth, s_redo_head,
                s_redo_depth, s_undo_group, s_undo_group_rows, s_undo_group_bytes) AS u (
                room, session, usr, hw, claim, version, undo, undo_depth, redo, redo_depth, grp, group_rows,
                group_bytes)
            WHERE NOT EXISTS (SELECT FROM sessions AS s WHERE s.room_id = u.room AND s.session = u.session OFFSET 0)
            ON CONFLICT DO NOTHING;
            GET DIAGNOSTICS added = ROW_COUNT;
            written := written + added;
            IF added > 0 THEN
                PERFORM evict_sessions(s_room, s_user, p_user_sessions);
            END IF;
        END IF;
        IF written <> cardinality(s_room) THEN
            RAISE EXCEPTION 'a session of the batch has a new owner' USING ERRCODE = 'TS001';
        END IF;
    END IF;

    IF cardinality(l_room) > 0 THEN
        UPDATE rooms AS r SET seq = u.seq, elements = u.elements, bytes = u.bytes
        FROM (
            SELECT k.*, o.row FROM unnest(r_room, r_seq, r_elements, r_bytes) AS k (room, seq, elements, bytes)
            CROSS JOIN LATERAL (
                SELECT o.ctid AS row FROM rooms AS o WHERE o.room_id = k.room OFFSET 0) AS o OFFSET 0) AS u
        WHERE r.ctid = u.row AND r.shard = p_shard AND r.seq < u.seq;
        GET DIAGNOSTICS written = ROW_COUNT;
        IF written <> cardinality(r_room) THEN
            INSERT INTO rooms (room_id, shard, seq, elements, bytes)
            SELECT u.room, p_shard, u.seq, u.elements, u.bytes
            FROM unnest(r_room, r_seq, r_elements, r_bytes) AS u (room, seq, elements, bytes)
            WHERE NOT EXISTS (SELECT FROM rooms AS r WHERE r.room_id = u.room OFFSET 0)
            ON CONFLICT DO NOTHING;
            GET DIAGNOSTICS added = ROW_COUNT;
            written := written + added;
        END IF;
        IF written <> cardinality(r_room) THEN
            RAISE EXCEPTION 'a room of the batch belongs to another shard' USING ERRCODE = 'check_violation';
        END IF;

        UPDATE elements AS e SET
            position_x = e_position_x[u.i], position_y = e_position_y[u.i], rotation = e_rotation[u.i],
            scale_x = e_scale_x[u.i], scale_y = e_scale_y[u.i], original_width = e_original_width[u.i],
            original_height = e_original_height[u.i], anchor_x = e_anchor_x[u.i], anchor_y = e_anchor_y[u.i],
            updated_by = e_updated_by[u.i], rev = e_rev[u.i], locked = e_locked[u.i],
            snap_degrees = e_snap_degrees[u.i], bounds_x = e_bounds_x[u.i], bounds_y = e_bounds_y[u.i],
            bounds_width = e_bounds_width[u.i], bounds_height = e_bounds_height[u.i],
            font_size = e_font_size[u.i], z_index = e_z_index[u.i], extra = e_extra[u.i], seq = e_seq[u.i],
            deleted_seq = e_deleted_seq[u.i], other_by = e_other_by[u.i], other_seq = e_other_seq[u.i]
        FROM (
            SELECT k.i::integer AS i, o.row FROM unnest(e_room, e_id) WITH ORDINALITY AS k (room, id, i)
            CROSS JOIN LATERAL (
                SELECT o.ctid AS row FROM elements AS o
                WHERE o.room_id = k.room AND o.element_id = k.id OFFSET 0) AS o OFFSET 0) AS u
        WHERE e.ctid = u.row AND e.seq < e_seq[u.i] AND (e.deleted_seq IS NULL OR e_restored[u.i]);
        GET DIAGNOSTICS written = ROW_COUNT;
        IF written <> cardinality(e_room) THEN
            INSERT INTO elements (
                room_id, element_id, type, position_x, position_y, rotation, scale_x, scale_y, original_width,
                original_height, anchor_x, anchor_y, created_by, updated_by, rev, locked, snap_degrees, bounds_x,
                bounds_y, bounds_width, bounds_height, font_size, z_index, space, parent_id, extra, seq,
                deleted_seq, other_by, other_seq)
            SELECT * FROM unnest(
                e_room, e_id, e_type, e_position_x, e_position_y, e_rotation, e_scale_x, e_scale_y,
                e_original_width, e_original_height, e_anchor_x, e_anchor_y, e_created_by, e_updated_by, e_rev,
                e_locked, e_snap_degrees, e_bounds_x, e_bounds_y, e_bounds_width, e_bounds_height, e_font_size,
                e_z_index, e_space, e_parent_id, e_extra, e_seq, e_deleted_seq, e_other_by, e_other_seq) AS u (
                room, id, type, position_x, position_y, rotation, scale_x, scale_y, original_width,
                original_height, anchor_x, anchor_y, created_by, updated_by, rev, locked, snap_degrees, bounds_x,
                bounds_y, bounds_width, bounds_height, font_size, z_index, space, parent_id, extra, seq, deleted_seq,
                other_by, other_seq)
            WHERE NOT EXISTS (SELECT FROM elements AS e WHERE e.room_id = u.room AND e.element_id = u.id OFFSET 0)
            ON CONFLICT DO NOTHING;
            GET DIAGNOSTICS added = ROW_COUNT;
            written := written + added;
        END IF;
        IF written <> cardinality(e_room) THEN
            RAISE EXCEPTION 'an element of the batch is deleted or newer' USING ERRCODE = 'check_violation';
        END IF;

        INSERT INTO commit_log (
            room_id, seq, gseq, shard, event, user_id, session, n, gestures, element_id, body_hash, before,
            after, chain, undo_next, undo_rest, cause, undone)
        SELECT l_room[u.i], l_seq[u.i], l_gseq[u.i], p_shard, l_event[u.i], l_user[u.i], l_session[u.i],
            l_n[u.i], l_gestures[u.i], l_element[u.i], l_hash[u.i], l_before[u.i], l_after[u.i], l_chain[u.i],
            l_undo_next[u.i], l_undo_rest[u.i], l_cause[u.i], l_undone[u.i]
        FROM generate_series(1, cardinality(l_room)) AS u (i);
    END IF;

    IF cardinality(f_room) > 0 THEN
        INSERT INTO refusals (room_id, session, n, body_hash, refusal)
        SELECT * FROM unnest(f_room, f_session, f_n, f_hash, f_refusal);
        -- The last 32 refusals of a session are kept.
        DELETE FROM refusals AS r
        USING (
            SELECT o.row FROM (SELECT DISTINCT u.room, u.session FROM unnest(f_room, f_session) AS u (room, session)) AS k
            CROSS JOIN LATERAL (
                SELECT o.ctid AS row FROM refusals AS o WHERE o.room_id = k.room AND o.session = k.session
                ORDER BY o.n DESC OFFSET 32) AS o OFFSET 0) AS u
        WHERE r.ctid = u.row;
    END IF;
    RETURN true;
END
$$;

-- load_shard_state as before, and who changed an element last:
--
--     kind        room_id key     n           seq      hash      detail   before     after
--     3 element   room    id      deleted seq last seq other_seq other_by updated_by element, null if deleted
CREATE OR REPLACE FUNCTION load_shard_state(
    p_shard smallint, r_room text[], s_room text[], s_session text[], e_room text[], e_id text[],
    e_family boolean[], d_room text[], d_session text[], d_n bigint[],
    u_room text[] DEFAULT '{}', u_user text[] DEFAULT '{}', h_room text[] DEFAULT '{}', h_seq bigint[] DEFAULT '{}',
    a_room text[] DEFAULT '{}', a_id text[] DEFAULT '{}', s_user text[] DEFAULT '{}',
    h_ahead bigint[] DEFAULT '{}'
) RETURNS TABLE (
    kind smallint, room_id text, key text, n bigint, seq bigint, hash bigint, detail text, before text,
    after text, undo json)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET extra_float_digits = 1 SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_sort = off SET enable_incremental_sort = off
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
        RETURN QUERY SELECT 3::smallint, e.room_id, e.element_id, e.deleted_seq, e.seq, e.other_seq,
            e.other_by, e.updated_by, e.text, NULL::json
            FROM unnest(e_room, e_id) AS k (room, id)
            CROSS JOIN LATERAL (
                SELECT o.room_id, o.element_id, o.deleted_seq, o.seq, o.updated_by, o.other_by, o.other_seq,
                    CASE WHEN o.deleted_seq IS NULL THEN element_json(o) END AS text
                FROM elements AS o WHERE o.room_id = k.room AND o.element_id = k.id OFFSET 0) AS e;
        RETURN QUERY SELECT 3::smallint, e.room_id, e.element_id, e.deleted_seq, e.seq, e.other_seq,
            e.other_by, e.updated_by, e.text, NULL::json
            FROM unnest(e_room, e_id, e_family) AS k (room, id, family)
            CROSS JOIN LATERAL (
                SELECT o.room_id, o.element_id, o.deleted_seq, o.seq, o.updated_by, o.other_by, o.other_seq,
                    element_json(o) AS text
                FROM elements AS o
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
                    WHERE s.room_id = k.room AND s.user_id BETWEEN k.usr AND k.usr AND substr(s.session, 2, 1) <> ':'
                    ORDER BY s.user_id DESC, s.session DESC OFFSET 0) AS r
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
