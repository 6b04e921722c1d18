/// The last line of defence in another form: one constraint for each of the two tables that every commit writes.
///
/// PostgreSQL reads every constraint's text anew for every statement, and there were forty: a quarter and more of what a
/// single commit cost the server. A function's plan stays from call to call. What is refused is what was refused before;
/// `BETWEEN` refuses NaN and the infinities, because PostgreSQL orders NaN above every number.
enum CheckSQL {
    /// Takes the single constraints away. The few of tables with short rows stay as they are.
    static let drop = #"""
        DO $$
        DECLARE
            c record;
        BEGIN
            FOR c IN SELECT o.conname, o.conrelid::regclass AS owner FROM pg_constraint AS o
                WHERE o.contype = 'c' AND o.conrelid IN ('elements'::regclass, 'commit_log'::regclass)
            LOOP
                EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', c.owner, c.conname);
            END LOOP;
        END
        $$;
        """#

    /// An element; columns that are null are judged by NOT NULL alone, as before.
    static let element = #"""
        CREATE FUNCTION element_is_sound(
            room_id text, element_id text, type text, position_x float8, position_y float8, rotation float8, scale_x float8,
            scale_y float8, original_width float8, original_height float8, width float8, height float8, anchor_x float8,
            anchor_y float8, created_by text, updated_by text, rev bigint, snap_degrees float8, bounds_x float8,
            bounds_y float8, bounds_width float8, bounds_height float8, font_size float8, z_index float8, space text,
            parent_id text, extra json, seq bigint, deleted_seq bigint
        ) RETURNS boolean
        LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
        AS $$
        BEGIN
            RETURN octet_length(room_id) BETWEEN 1 AND 64 AND octet_length(element_id) BETWEEN 1 AND 128
                AND octet_length(type) <= 128 AND position_x BETWEEN -1e9 AND 1e9 AND position_y BETWEEN -1e9 AND 1e9
                AND rotation >= 0 AND rotation < 360 AND scale_x BETWEEN -1e10 AND 1e10 AND scale_y BETWEEN -1e10 AND 1e10
                AND original_width BETWEEN 0 AND 1e12 AND original_height BETWEEN 0 AND 1e12
                AND width BETWEEN 0 AND 1e21 AND height BETWEEN 0 AND 1e21
                AND anchor_x BETWEEN -1e9 AND 1e9 AND anchor_y BETWEEN -1e9 AND 1e9
                AND octet_length(created_by) BETWEEN 1 AND 256 AND octet_length(updated_by) BETWEEN 1 AND 256 AND rev >= 1
                AND (snap_degrees IS NULL OR snap_degrees > 0 AND snap_degrees <= 180)
                AND CASE num_nulls(bounds_x, bounds_y, bounds_width, bounds_height)
                    WHEN 4 THEN true
                    WHEN 0 THEN bounds_x BETWEEN -1e12 AND 1e12 AND bounds_y BETWEEN -1e12 AND 1e12
                        AND bounds_width BETWEEN 0 AND 1e12 AND bounds_height BETWEEN 0 AND 1e12
                    ELSE false END
                AND (font_size IS NULL OR abs(font_size) < 'Infinity') AND (z_index IS NULL OR abs(z_index) < 'Infinity')
                AND (parent_id IS NULL OR octet_length(parent_id) BETWEEN 1 AND 128)
                AND (extra IS NULL OR extra::text LIKE '{%}' AND octet_length(extra::text) <= 16384)
                AND seq > 0 AND (deleted_seq IS NULL OR deleted_seq = seq)
                AND CASE space
                    WHEN 'canvas' THEN position_x = trunc(position_x) AND position_y = trunc(position_y)
                    WHEN 'normalized' THEN position_x BETWEEN 0 AND 1 AND position_y BETWEEN 0 AND 1 AND parent_id IS NOT NULL
                    ELSE false END;
        END
        $$;
        ALTER TABLE elements ADD CONSTRAINT elements_check CHECK (element_is_sound(
            room_id, element_id, type, position_x, position_y, rotation, scale_x, scale_y, original_width, original_height,
            width, height, anchor_x, anchor_y, created_by, updated_by, rev, snap_degrees, bounds_x, bounds_y, bounds_width,
            bounds_height, font_size, z_index, space, parent_id, extra, seq, deleted_seq))
        """#

    /// A row of the log. Partitions have it from the log.
    static let logRow = #"""
        CREATE FUNCTION log_row_is_sound(
            room_id text, seq bigint, gseq bigint, shard smallint, event text, user_id text, session text, n bigint,
            gesture bigint, element_id text
        ) RETURNS boolean
        LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
        AS $$
        BEGIN
            RETURN octet_length(room_id) BETWEEN 1 AND 64 AND seq > 0 AND gseq > 0 AND shard BETWEEN 0 AND 63
                AND event IN ('element:transformed', 'element:created', 'elements:created', 'element:updated',
                    'element:deleted')
                AND octet_length(user_id) BETWEEN 1 AND 256 AND octet_length(session) BETWEEN 1 AND 128
                AND n BETWEEN 1 AND 9007199254740991 AND gesture >= 0
                AND (element_id IS NULL OR octet_length(element_id) BETWEEN 1 AND 128);
        END
        $$;
        ALTER TABLE commit_log ADD CONSTRAINT commit_log_check CHECK (log_row_is_sound(
            room_id, seq, gseq, shard, event, user_id, session, n, gesture, element_id))
        """#

    /// Everything, in the order in which it is created.
    static let all = [Self.drop, Self.element, Self.logRow]
}
