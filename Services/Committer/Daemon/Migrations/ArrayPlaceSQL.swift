/// The statements of `commit_batch` for the tables with many columns: row i comes from place i of each column's array.
///
/// `unnest` of many arrays makes a row store for each of them, one row at a time, and reads them side by side; a place
/// of an array that the function was given is read as it lies there. Elements that have to be inserted because they do
/// not exist are rare and stay as they were.
enum ArrayPlaceSQL {
    /// The places come from `unnest`, of which the planner expects few rows: of a series it expects so many that it
    /// would rather read a small table as a whole, and the plan stays when the table has grown.
    static let elements = #"""
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
        \#(UpdateFirstSQL.newElements)
        """#

    static let log = #"""
                INSERT INTO commit_log (
                    room_id, seq, gseq, shard, event, user_id, session, n, gesture, element_id, body_hash, before,
                    after, chain)
                SELECT l_room[u.i], l_seq[u.i], l_gseq[u.i], p_shard, l_event[u.i], l_user[u.i], l_session[u.i],
                    l_n[u.i], l_gesture[u.i], l_element[u.i], l_hash[u.i], l_before[u.i], l_after[u.i], l_chain[u.i]
                FROM generate_series(1, cardinality(l_room)) AS u (i);
        """#

    /// A room's grammar is looked at when its row is made. As a CHECK it was matched again, a regular expression, with
    /// every number that the room was given; the name never changes.
    static let roomNames = #"""
        ALTER TABLE rooms DROP CONSTRAINT rooms_room_id_check;
        ALTER TABLE rooms ADD CONSTRAINT rooms_room_id_check CHECK (octet_length(room_id) BETWEEN 1 AND 64);
        CREATE FUNCTION refuse_room_name() RETURNS trigger LANGUAGE plpgsql
        AS $$
        BEGIN
            RAISE EXCEPTION 'a room cannot have this name' USING ERRCODE = 'check_violation';
        END
        $$;
        CREATE TRIGGER rooms_name BEFORE INSERT ON rooms FOR EACH ROW
            WHEN (NEW.room_id !~ '^[A-Za-z0-9_.:-]{1,64}$') EXECUTE FUNCTION refuse_room_name()
        """#

    /// Everything, in the order in which it is created.
    static let all = [Self.roomNames, CommitBatchSQL.placedCommitBatch]
}
