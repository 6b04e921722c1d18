-- Undo and redo: per user and room a stack of each, 100 entries deep at most, as linked lists through the commit log.
--
-- An entry is one row of the log, or several of one group. `undo_next` of a row is the row beneath it, and `undo_rest`
-- says how many of the rows beneath belong to the same entry. The top of both stacks stands in the user's sessions: the
-- row with the highest `undo_version` counts. So a commit pushes its entry with the rows that it writes anyway, and an
-- entry lasts as long as its rows in the log.

ALTER TABLE commit_log
    ADD COLUMN undo_next bigint,
    ADD COLUMN undo_rest integer,
    ADD COLUMN cause     text COLLATE "C",
    ADD COLUMN undone    json;
COMMENT ON COLUMN commit_log.undo_next IS 'the seq of the row beneath it in its user''s stack; 0: none; null: it is on no stack';
COMMENT ON COLUMN commit_log.undo_rest IS 'how many rows beneath it belong to the same entry';
COMMENT ON COLUMN commit_log.cause IS 'undo or redo; null: an edit';
COMMENT ON COLUMN commit_log.undone IS 'the entry that an undo or a redo was made from';

ALTER TABLE sessions
    ADD COLUMN undo_version     bigint NOT NULL DEFAULT 0 CHECK (undo_version >= 0),
    ADD COLUMN undo_head        bigint NOT NULL DEFAULT 0 CHECK (undo_head >= 0),
    ADD COLUMN undo_depth       integer NOT NULL DEFAULT 0 CHECK (undo_depth >= 0),
    ADD COLUMN redo_head        bigint NOT NULL DEFAULT 0 CHECK (redo_head >= 0),
    ADD COLUMN redo_depth       integer NOT NULL DEFAULT 0 CHECK (redo_depth >= 0),
    ADD COLUMN undo_group       text COLLATE "C",
    ADD COLUMN undo_group_rows  integer NOT NULL DEFAULT 0,
    ADD COLUMN undo_group_bytes bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN sessions.undo_version IS 'how often the user''s stacks in the room had changed when the session last committed';
COMMENT ON COLUMN sessions.undo_head IS 'the seq of the newest row of the newest entry';
COMMENT ON COLUMN sessions.undo_group IS 'the group that the newest entry is open for';
COMMENT ON COLUMN refusals.refusal IS 'the refusal, or {"seq"} for an undo that had nothing to undo';

-- A user's sessions, the newest last. Requests over HTTP and operators' commands have streams with a colon in second
-- place, one each: they have no undo.
CREATE INDEX sessions_user ON sessions (room_id, user_id, session) WHERE substr(session, 2, 1) <> ':';

-- commit_batch as before, and what undo needs:
--
--     e_restored    the element was deleted before the batch: an undo brings it back
--     l_undo_       the row's place in its user's stack
--     l_cause, l_undone
--     s_undo_, s_redo_  the user's stacks afterwards
--
-- The new arguments may be left out, so that committers of the release before work on.
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
    s_undo_group_rows integer[] DEFAULT NULL, s_undo_group_bytes bigint[] DEFAULT NULL
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
        FROM unnest(
            s_room, s_session, s_user, s_hw, s_claim, s_undo_version, s_undo_head, s_undo_depth, s_redo_head,
            s_redo_depth, s_undo_group, s_undo_group_rows, s_undo_group_bytes) AS u (
            room, session, usr, hw, claim, version, undo, undo_depth, redo, redo_depth, grp, group_rows, group_bytes)
        WHERE s.room_id = u.room AND s.session = u.session AND s.claim = u.claim AND s.user_id = u.usr
            AND s.hw < u.hw;
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
            WHERE NOT EXISTS (SELECT FROM sessions AS s WHERE s.room_id = u.room AND s.session = u.session)
            ON CONFLICT DO NOTHING;
            GET DIAGNOSTICS added = ROW_COUNT;
            written := written + added;
        END IF;
        IF written <> cardinality(s_room) THEN
            RAISE EXCEPTION 'a session of the batch has a new owner' USING ERRCODE = 'TS001';
        END IF;
    END IF;

    IF cardinality(l_room) > 0 THEN
        UPDATE rooms AS r SET seq = u.seq FROM unnest(r_room, r_seq) AS u (room, seq)
        WHERE r.room_id = u.room AND r.shard = p_shard AND r.seq < u.seq;
        GET DIAGNOSTICS written = ROW_COUNT;
        IF written <> cardinality(r_room) THEN
            INSERT INTO rooms (room_id, shard, seq)
            SELECT u.room, p_shard, u.seq FROM unnest(r_room, r_seq) AS u (room, seq)
            WHERE NOT EXISTS (SELECT FROM rooms AS r WHERE r.room_id = u.room)
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
            deleted_seq = e_deleted_seq[u.i]
        FROM (SELECT o.i::integer AS i FROM unnest(e_seq) WITH ORDINALITY AS o (seq, i) OFFSET 0) AS u
        WHERE e.room_id = e_room[u.i] AND e.element_id = e_id[u.i] AND e.seq < e_seq[u.i]
            AND (e.deleted_seq IS NULL OR e_restored[u.i]);
        GET DIAGNOSTICS written = ROW_COUNT;
        IF written <> cardinality(e_room) THEN
            INSERT INTO elements (
                room_id, element_id, type, position_x, position_y, rotation, scale_x, scale_y, original_width,
                original_height, anchor_x, anchor_y, created_by, updated_by, rev, locked, snap_degrees, bounds_x,
                bounds_y, bounds_width, bounds_height, font_size, z_index, space, parent_id, extra, seq,
                deleted_seq)
            SELECT * FROM unnest(
                e_room, e_id, e_type, e_position_x, e_position_y, e_rotation, e_scale_x, e_scale_y,
                e_original_width, e_original_height, e_anchor_x, e_anchor_y, e_created_by, e_updated_by, e_rev,
                e_locked, e_snap_degrees, e_bounds_x, e_bounds_y, e_bounds_width, e_bounds_height, e_font_size,
                e_z_index, e_space, e_parent_id, e_extra, e_seq, e_deleted_seq) AS u (
                room, id, type, position_x, position_y, rotation, scale_x, scale_y, original_width,
                original_height, anchor_x, anchor_y, created_by, updated_by, rev, locked, snap_degrees, bounds_x,
                bounds_y, bounds_width, bounds_height, font_size, z_index, space, parent_id, extra, seq, deleted_seq)
            WHERE NOT EXISTS (SELECT FROM elements AS e WHERE e.room_id = u.room AND e.element_id = u.id)
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
        USING (SELECT DISTINCT u.room, u.session FROM unnest(f_room, f_session) AS u (room, session)) AS k
        WHERE r.room_id = k.room AND r.session = k.session AND r.n < (
            SELECT o.n FROM refusals AS o WHERE o.room_id = k.room AND o.session = k.session
            ORDER BY o.n DESC OFFSET 31 LIMIT 1);
    END IF;
    RETURN true;
END
$$;

-- load_shard_state as before, and two kinds of rows. `undo` is JSON: of an applied commit `undone`, of a user the stacks,
-- of a row of an entry its place.
--
--     kind        room_id key     n           seq      hash  detail before after
--     6 user      room    user    -           -
--     7 entry     room    -       head        seq      -     event  before after
--
-- Of a user's sessions the newest 1000 are looked at: a user who keeps opening sessions costs no more than that.
DROP FUNCTION load_shard_state;
CREATE FUNCTION load_shard_state(
    p_shard smallint, r_room text[], s_room text[], s_session text[], e_room text[], e_id text[],
    e_family boolean[], d_room text[], d_session text[], d_n bigint[],
    u_room text[] DEFAULT '{}', u_user text[] DEFAULT '{}', h_room text[] DEFAULT '{}', h_seq bigint[] DEFAULT '{}'
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
        RETURN QUERY SELECT 1::smallint, r.room_id, NULL::text, NULL::bigint, r.seq, NULL::bigint, NULL::text,
            NULL::text, NULL::text, NULL::json
            FROM unnest(r_room) AS k (room) JOIN rooms AS r ON r.room_id = k.room;
    END IF;
    IF cardinality(s_room) > 0 THEN
        RETURN QUERY SELECT 2::smallint, s.room_id, s.session, s.hw, s.claim::bigint, NULL::bigint, s.user_id,
            NULL::text, NULL::text, NULL::json
            FROM unnest(s_room, s_session) AS k (room, session)
            JOIN sessions AS s ON s.room_id = k.room AND s.session = k.session;
    END IF;
    IF cardinality(e_room) > 0 THEN
        RETURN QUERY SELECT 3::smallint, e.room_id, e.element_id, e.deleted_seq, e.seq, NULL::bigint,
            NULL::text, NULL::text, CASE WHEN e.deleted_seq IS NULL THEN element_json(e) END, NULL::json
            FROM unnest(e_room, e_id) AS k (room, id)
            JOIN elements AS e ON e.room_id = k.room AND e.element_id = k.id;
        RETURN QUERY SELECT 3::smallint, e.room_id, e.element_id, e.deleted_seq, e.seq, NULL::bigint,
            NULL::text, NULL::text, element_json(e), NULL::json
            FROM unnest(e_room, e_id, e_family) AS k (room, id, family)
            JOIN elements AS e ON e.room_id = k.room AND e.parent_id = k.id
            WHERE k.family AND e.deleted_seq IS NULL;
    END IF;
    IF cardinality(d_room) > 0 THEN
        RETURN QUERY SELECT 4::smallint, l.room_id, l.session, l.n, l.seq, l.body_hash, l.event,
            l.before::text, l.after::text, l.undone
            FROM unnest(d_room, d_session, d_n) AS k (room, session, n)
            JOIN commit_log AS l ON l.room_id = k.room AND l.session = k.session AND l.n = k.n;
        RETURN QUERY SELECT 5::smallint, f.room_id, f.session, f.n, NULL::bigint, f.body_hash, NULL::text,
            NULL::text, f.refusal::text, NULL::json
            FROM unnest(d_room, d_session, d_n) AS k (room, session, n)
            JOIN refusals AS f ON f.room_id = k.room AND f.session = k.session AND f.n = k.n;
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
                SELECT l.*, k.seq AS head FROM unnest(h_room, h_seq) AS k (room, seq)
                JOIN commit_log AS l ON l.room_id = k.room AND l.seq = k.seq
                UNION ALL
                SELECT l.*, e.head FROM entry AS e
                JOIN commit_log AS l ON l.room_id = e.room_id AND l.seq = e.undo_next WHERE e.undo_rest > 0
            )
            SELECT 7::smallint, e.room_id, NULL::text, e.head, e.seq, NULL::bigint, e.event, e.before::text,
                e.after::text, json_build_object('next', e.undo_next, 'rest', e.undo_rest)
            FROM entry AS e ORDER BY e.room_id, e.head, e.seq DESC;
    END IF;
END
$$;

-- The reads of the log as before, and the cause of each row.
DROP FUNCTION read_room_log;
DROP FUNCTION read_shard_log;
CREATE FUNCTION read_room_log(p_room text, p_after bigint, p_limit integer)
RETURNS TABLE (
    shard smallint, gseq bigint, room_id text, seq bigint, at timestamptz, event text, user_id text,
    session text, n bigint, gestures text, element_id text, before text, after text, body_hash bigint,
    chain bigint, cause text)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_sort = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT l.shard, l.gseq, l.room_id, l.seq, l.at, l.event, l.user_id, l.session, l.n, l.gestures::text,
        l.element_id, l.before::text, l.after::text, l.body_hash, l.chain, l.cause
        FROM commit_log AS l WHERE l.room_id = p_room AND l.seq > p_after
        ORDER BY l.room_id, l.seq LIMIT p_limit;
END
$$;

CREATE FUNCTION read_shard_log(p_shard smallint, p_after_gseq bigint, p_limit integer)
RETURNS TABLE (
    shard smallint, gseq bigint, room_id text, seq bigint, at timestamptz, event text, user_id text,
    session text, n bigint, gestures text, element_id text, before text, after text, body_hash bigint,
    chain bigint, cause text)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_sort = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT l.shard, l.gseq, l.room_id, l.seq, l.at, l.event, l.user_id, l.session, l.n, l.gestures::text,
        l.element_id, l.before::text, l.after::text, l.body_hash, l.chain, l.cause
        FROM commit_log AS l WHERE l.shard = p_shard AND l.gseq > p_after_gseq
        ORDER BY l.shard, l.gseq LIMIT p_limit;
END
$$;
