/// The statements of `commit_batch` that write rows which nearly always exist: sessions, rooms and elements.
///
/// `INSERT … ON CONFLICT DO UPDATE` makes the new row first, checks it, looks for the conflict, locks the row that is
/// there and then updates it; an `UPDATE` does only the last part. So rows are updated first, and what was not there is
/// inserted. Which rows may be written is the same as before, and `written` counts the same; a row that somebody else
/// inserts in between is not counted, and the batch fails as if its update had not been allowed.
enum UpdateFirstSQL {
    static let sessions = #"""
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
        """#

    static let rooms = #"""
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
        """#

    static let elements = #"""
                UPDATE elements AS e SET
                    position_x = u.position_x, position_y = u.position_y,
                    rotation = u.rotation, scale_x = u.scale_x, scale_y = u.scale_y,
                    original_width = u.original_width, original_height = u.original_height,
                    anchor_x = u.anchor_x, anchor_y = u.anchor_y, updated_by = u.updated_by,
                    rev = u.rev, locked = u.locked, snap_degrees = u.snap_degrees,
                    bounds_x = u.bounds_x, bounds_y = u.bounds_y,
                    bounds_width = u.bounds_width, bounds_height = u.bounds_height,
                    font_size = u.font_size, z_index = u.z_index, extra = u.extra,
                    seq = u.seq, deleted_seq = u.deleted_seq
                FROM unnest(
                    e_room, e_id, e_type, e_position_x, e_position_y, e_rotation, e_scale_x, e_scale_y,
                    e_original_width, e_original_height, e_anchor_x, e_anchor_y, e_created_by, e_updated_by, e_rev,
                    e_locked, e_snap_degrees, e_bounds_x, e_bounds_y, e_bounds_width, e_bounds_height, e_font_size,
                    e_z_index, e_space, e_parent_id, e_extra, e_seq, e_deleted_seq) AS u (
                    room, id, type, position_x, position_y, rotation, scale_x, scale_y, original_width,
                    original_height, anchor_x, anchor_y, created_by, updated_by, rev, locked, snap_degrees, bounds_x,
                    bounds_y, bounds_width, bounds_height, font_size, z_index, space, parent_id, extra, seq, deleted_seq)
                WHERE e.room_id = u.room AND e.element_id = u.id AND e.deleted_seq IS NULL AND e.seq < u.seq;
                GET DIAGNOSTICS written = ROW_COUNT;
        \#(Self.newElements)
        """#

    /// Inserts the elements of the batch that were not there.
    static let newElements = #"""
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
        """#
}
