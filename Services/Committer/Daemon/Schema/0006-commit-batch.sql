-- Writes one batch of commits: the only function that changes rooms, elements and the log.
--
-- One call is one transaction. The committer has decided everything from the state of the shard at p_version and
-- p_base. The function makes sure, under the lock on the shard's row, that this still is the state, and writes. A
-- second committer on the same shard, a transaction left over from a lost connection, or a retry after an unknown
-- outcome therefore finds another version, and nothing is written. The chain is compared too, so that the same version
-- number in another history does not pass for this one.
--
-- A batch that changes nothing but was answered from the state (duplicates, gaps) makes the same write: its COMMIT then
-- proves that the state was current, and waits for a synchronous standby as the first one did.
--
-- Returns false when the state is another one; nothing was written then. Raises TS001 when a session of the batch has a
-- new owner, and check_violation when a row may not be written; either rolls everything back.
--
-- Arguments. The arrays of one table have the same length: row i is made of the i-th value of each.
--
--     p_   the shard: its number, version and chain before, last number (gseq) and chain afterwards
--     r_   rooms: their last numbers afterwards
--     e_   elements afterwards, each once
--     l_   rows of the commit log, in order
--     s_   sessions whose highest number grew
--     f_   commits that were refused for good
--
-- Rows that nearly always exist (sessions, rooms, elements) are updated first, and only the missing ones are inserted:
-- INSERT ... ON CONFLICT DO UPDATE would make and check the new row, look for the conflict and lock the existing row
-- before it updates. `written` counts the rows that could be written. A row that somebody else inserts in between is
-- not counted, and the batch fails as if its update had not been allowed.
--
-- Elements and log rows have many columns, so their rows are read from the arrays by index: unnest of many arrays would
-- build a row store for each. The indexes of elements come from unnest rather than generate_series, because the planner
-- expects few rows of it: expecting many, it would rather read a small table as a whole, and keep that plan when the
-- table has grown.
--
-- The settings pin the planner to index look-ups and keep the plans, because a plan made while the tables were empty
-- would scan them later. The function is for READ COMMITTED: under a stricter level a lost race would be an error
-- (40001) instead of an answer, which is right as well, only slower.
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
    f_room text[], f_session text[], f_n bigint[], f_hash bigint[], f_refusal json[]
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
        UPDATE sessions AS s SET hw = u.hw, updated_at = clock_timestamp()
        FROM unnest(s_room, s_session, s_user, s_hw, s_claim) AS u (room, session, usr, hw, claim)
        WHERE s.room_id = u.room AND s.session = u.session AND s.claim = u.claim AND s.user_id = u.usr
            AND s.hw < u.hw;
        GET DIAGNOSTICS written = ROW_COUNT;
        IF written <> cardinality(s_room) THEN
            INSERT INTO sessions (room_id, session, user_id, hw, claim)
            SELECT * FROM unnest(s_room, s_session, s_user, s_hw, s_claim) AS u (room, session, usr, hw, claim)
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
        WHERE e.room_id = e_room[u.i] AND e.element_id = e_id[u.i] AND e.deleted_seq IS NULL
            AND e.seq < e_seq[u.i];
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
            after, chain)
        SELECT l_room[u.i], l_seq[u.i], l_gseq[u.i], p_shard, l_event[u.i], l_user[u.i], l_session[u.i],
            l_n[u.i], l_gestures[u.i], l_element[u.i], l_hash[u.i], l_before[u.i], l_after[u.i], l_chain[u.i]
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
