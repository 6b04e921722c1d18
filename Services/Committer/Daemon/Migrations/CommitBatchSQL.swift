/// The one function that writes commits.
enum CommitBatchSQL {
    /// One call is one transaction. The caller has decided everything from a state of the shard that it read at
    /// `p_version`; the function only makes sure that this still is the state, under the lock on the shard's row, and
    /// writes. A second committer on the same shard, a transaction left over from a lost connection or a repetition
    /// after an unknown outcome thus find the version raised, and nothing is written.
    ///
    /// A batch that changes nothing but was answered from the state (duplicates, gaps) makes the same write: its COMMIT
    /// then proves that the state was current, and waits for a synchronous standby as the first one did.
    ///
    /// It is VOLATILE and for READ COMMITTED only: under a stricter level the lost race would be an error (40001)
    /// instead of an answer, which is right as well, only slower.
    static let commitBatch = Self.text(of: Form())

    /// The same with the shard's history chain: the state that the batch was decided on is named by version and chain,
    /// so that a version number of another history does not pass for it; each row of the log carries its link's chain.
    static let chainedCommitBatch = Self.text(
        of: Form(
            base: ", p_base bigint", chain: ", p_chain bigint", rows: ", l_chain bigint[]",
            assignment: ", chain = p_chain", condition: " AND chain = p_base", column: ", chain", value: ", u.chain",
            argument: ", l_chain"))

    /// The same, where rows that exist are updated and only those that do not are inserted.
    static let updatingCommitBatch = Self.text(
        of: Form(
            base: ", p_base bigint", chain: ", p_chain bigint", rows: ", l_chain bigint[]",
            assignment: ", chain = p_chain", condition: " AND chain = p_base", column: ", chain", value: ", u.chain",
            argument: ", l_chain", variable: "\n            added bigint;", sessions: UpdateFirstSQL.sessions,
            roomRows: UpdateFirstSQL.rooms, elements: UpdateFirstSQL.elements))

    /// The same, where rows of elements and of the log are read from the arrays by their places.
    static let placedCommitBatch = Self.text(
        of: Form(
            base: ", p_base bigint", chain: ", p_chain bigint", rows: ", l_chain bigint[]",
            assignment: ", chain = p_chain", condition: " AND chain = p_base", variable: "\n            added bigint;",
            sessions: UpdateFirstSQL.sessions, roomRows: UpdateFirstSQL.rooms, elements: ArrayPlaceSQL.elements,
            log: ArrayPlaceSQL.log))

    /// What the forms of the function do not share.
    private struct Form {
        var base = "", chain = "", rows = "", assignment = "", condition = "", column = "", value = "", argument = ""
        var variable = ""
        var sessions = CommitBatchSQL.sessions, roomRows = CommitBatchSQL.rooms, elements = CommitBatchSQL.elements
        var log: String?
    }

    private static let sessions = #"""
                INSERT INTO sessions AS s (room_id, session, user_id, hw, claim)
                SELECT * FROM unnest(s_room, s_session, s_user, s_hw, s_claim)
                ON CONFLICT (room_id, session) DO UPDATE
                    SET hw = excluded.hw, updated_at = clock_timestamp()
                    WHERE s.claim = excluded.claim AND s.user_id = excluded.user_id AND s.hw < excluded.hw;
                GET DIAGNOSTICS written = ROW_COUNT;
        """#

    private static let rooms = #"""
                INSERT INTO rooms AS r (room_id, shard, seq)
                SELECT u.room, p_shard, u.seq FROM unnest(r_room, r_seq) AS u (room, seq)
                ON CONFLICT (room_id) DO UPDATE SET seq = excluded.seq
                    WHERE r.shard = excluded.shard AND r.seq < excluded.seq;
                GET DIAGNOSTICS written = ROW_COUNT;
        """#

    private static let elements = #"""
                INSERT INTO elements AS e (
                    room_id, element_id, type, position_x, position_y, rotation, scale_x, scale_y, original_width,
                    original_height, anchor_x, anchor_y, created_by, updated_by, rev, locked, snap_degrees, bounds_x,
                    bounds_y, bounds_width, bounds_height, font_size, z_index, space, parent_id, extra, seq,
                    deleted_seq)
                SELECT * FROM unnest(
                    e_room, e_id, e_type, e_position_x, e_position_y, e_rotation, e_scale_x, e_scale_y,
                    e_original_width, e_original_height, e_anchor_x, e_anchor_y, e_created_by, e_updated_by, e_rev,
                    e_locked, e_snap_degrees, e_bounds_x, e_bounds_y, e_bounds_width, e_bounds_height, e_font_size,
                    e_z_index, e_space, e_parent_id, e_extra, e_seq, e_deleted_seq)
                ON CONFLICT (room_id, element_id) DO UPDATE SET
                    position_x = excluded.position_x, position_y = excluded.position_y,
                    rotation = excluded.rotation, scale_x = excluded.scale_x, scale_y = excluded.scale_y,
                    original_width = excluded.original_width, original_height = excluded.original_height,
                    anchor_x = excluded.anchor_x, anchor_y = excluded.anchor_y, updated_by = excluded.updated_by,
                    rev = excluded.rev, locked = excluded.locked, snap_degrees = excluded.snap_degrees,
                    bounds_x = excluded.bounds_x, bounds_y = excluded.bounds_y,
                    bounds_width = excluded.bounds_width, bounds_height = excluded.bounds_height,
                    font_size = excluded.font_size, z_index = excluded.z_index, extra = excluded.extra,
                    seq = excluded.seq, deleted_seq = excluded.deleted_seq
                    WHERE e.deleted_seq IS NULL AND e.seq < excluded.seq;
                GET DIAGNOSTICS written = ROW_COUNT;
        """#

    private static func log(_ form: Form) -> String {
        #"""
                INSERT INTO commit_log (
                    room_id, seq, gseq, shard, event, user_id, session, n, gesture, element_id, body_hash, before,
                    after\#(form.column))
                SELECT u.room, u.seq, u.gseq, p_shard, u.event, u.usr, u.session, u.n, u.gesture, u.element, u.hash,
                    u.before, u.after\#(form.value)
                FROM unnest(
                    l_room, l_seq, l_gseq, l_event, l_user, l_session, l_n, l_gesture, l_element, l_hash, l_before,
                    l_after\#(form.argument)
                ) AS u (room, seq, gseq, event, usr, session, n, gesture, element, hash, before, after\#(form.column));
        """#
    }

    private static func text(of form: Form) -> String {
        #"""
        CREATE OR REPLACE FUNCTION commit_batch(
            p_shard smallint, p_version bigint\#(form.base), p_gseq bigint\#(form.chain),
            r_room text[], r_seq bigint[],
            e_room text[], e_id text[], e_type text[], e_position_x float8[], e_position_y float8[],
            e_rotation float8[], e_scale_x float8[], e_scale_y float8[], e_original_width float8[],
            e_original_height float8[], e_anchor_x float8[], e_anchor_y float8[], e_created_by text[],
            e_updated_by text[], e_rev bigint[], e_locked boolean[], e_snap_degrees float8[], e_bounds_x float8[],
            e_bounds_y float8[], e_bounds_width float8[], e_bounds_height float8[], e_font_size float8[],
            e_z_index float8[], e_space text[], e_parent_id text[], e_extra json[], e_seq bigint[],
            e_deleted_seq bigint[],
            l_room text[], l_seq bigint[], l_gseq bigint[], l_event text[], l_user text[], l_session text[],
            l_n bigint[], l_gesture bigint[], l_element text[], l_hash bigint[], l_before json[], \#
        l_after json[]\#(form.rows),
            s_room text[], s_session text[], s_user text[], s_hw bigint[], s_claim integer[],
            f_room text[], f_session text[], f_n bigint[], f_hash bigint[], f_refusal json[]
        ) RETURNS boolean
        LANGUAGE plpgsql VOLATILE
        SET plan_cache_mode = force_generic_plan
        SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
        AS $$
        DECLARE
            written bigint;\#(form.variable)
        BEGIN
            UPDATE shards SET version = version + 1, gseq = p_gseq\#(form.assignment) \#
        WHERE shard = p_shard AND version = p_version\#(form.condition);
            IF NOT FOUND THEN
                RETURN false;
            END IF;

            IF cardinality(s_room) > 0 THEN
                -- claim_session() may raise a claim at any time, without the shard's lock: the row itself decides.
        \#(form.sessions)
                IF written <> cardinality(s_room) THEN
                    RAISE EXCEPTION 'a session of the batch has a new owner' USING ERRCODE = 'TS001';
                END IF;
            END IF;

            IF cardinality(l_room) > 0 THEN
        \#(form.roomRows)
                IF written <> cardinality(r_room) THEN
                    RAISE EXCEPTION 'a room of the batch belongs to another shard' USING ERRCODE = 'check_violation';
                END IF;

        \#(form.elements)
                IF written <> cardinality(e_room) THEN
                    RAISE EXCEPTION 'an element of the batch is deleted or newer' USING ERRCODE = 'check_violation';
                END IF;

        \#(form.log ?? Self.log(form))
            END IF;

            IF cardinality(f_room) > 0 THEN
                INSERT INTO refusals (room_id, session, n, body_hash, refusal)
                SELECT * FROM unnest(f_room, f_session, f_n, f_hash, f_refusal);
                DELETE FROM refusals AS r
                USING (SELECT DISTINCT u.room, u.session FROM unnest(f_room, f_session) AS u (room, session)) AS k
                WHERE r.room_id = k.room AND r.session = k.session AND r.n < (
                    SELECT o.n FROM refusals AS o WHERE o.room_id = k.room AND o.session = k.session
                    ORDER BY o.n DESC OFFSET 31 LIMIT 1);
            END IF;
            RETURN true;
        END
        $$;
        """#
    }
}
