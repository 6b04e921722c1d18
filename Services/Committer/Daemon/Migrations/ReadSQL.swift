/// The functions that read. All are STABLE: every statement inside sees the snapshot of the one statement that called,
/// so an answer is the state at one moment. They are plpgsql because that keeps their plans between calls, and have
/// the planner pinned to index look-ups, because a plan made while the tables were empty would scan them later.
enum ReadSQL {
    /// The flat element as JSON text, fields in the order in which the daemons write them.
    static let elementJSON = #"""
        CREATE OR REPLACE FUNCTION element_json(e elements) RETURNS text
        LANGUAGE sql STABLE PARALLEL SAFE
        AS $$
            SELECT '{"id":' || to_json(e.element_id) || ',"type":' || to_json(e.type)
                || ',"positionX":' || e.position_x || ',"positionY":' || e.position_y
                || ',"width":' || e.width || ',"height":' || e.height || ',"rotation":' || e.rotation
                || ',"scaleX":' || e.scale_x || ',"scaleY":' || e.scale_y
                || ',"originalWidth":' || e.original_width || ',"originalHeight":' || e.original_height
                || ',"anchorX":' || e.anchor_x || ',"anchorY":' || e.anchor_y
                || ',"createdBy":' || to_json(e.created_by) || ',"updatedBy":' || to_json(e.updated_by)
                || ',"rev":' || e.rev
                || CASE WHEN e.locked THEN ',"locked":true' ELSE '' END
                || coalesce(',"snapDegrees":' || e.snap_degrees, '')
                || coalesce(',"bounds":{"x":' || e.bounds_x || ',"y":' || e.bounds_y || ',"width":' || e.bounds_width
                    || ',"height":' || e.bounds_height || '}', '')
                || coalesce(',"fontSize":' || e.font_size, '') || coalesce(',"zIndex":' || e.z_index, '')
                || CASE WHEN e.space = 'normalized' THEN ',"space":"normalized"' ELSE '' END
                || coalesce(',"parentId":' || to_json(e.parent_id), '')
                || CASE WHEN e.extra IS NULL OR e.extra::text = '{}' THEN '}'
                        ELSE ',' || substr(e.extra::text, 2) END
        $$;
        """#

    /// What a committer needs to decide a batch, in one round trip and one snapshot. Rows by `kind`:
    ///
    ///     kind        room_id key     n           seq      hash detail before after
    ///     0 shard     -       -       version     gseq
    ///     1 room      room    -       -           seq
    ///     2 session   room    session hw          claim         user
    ///     3 element   room    element deleted_seq seq                         flat JSON (null when deleted)
    ///     4 applied   room    session n           seq      hash event  before after
    ///     5 refused   room    session n           -        hash               refusal JSON
    ///
    /// What is not there has no row. With `e_family` the living elements that hang on the element come along.
    static let loadShardState = Self.loadShardState(chain: "NULL::bigint", floor: "NULL::text")

    /// The same, where the shard's row has its chain as `hash` and the floor of sessions as `detail`.
    static let loadChainedState = Self.loadShardState(
        chain: "s.chain", floor: "(SELECT m.value FROM meta AS m WHERE m.key = 'session_floor')")

    private static func loadShardState(chain: String, floor: String) -> String {
        #"""
        CREATE OR REPLACE FUNCTION load_shard_state(
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
            RETURN QUERY SELECT 0::smallint, NULL::text, NULL::text, s.version, s.gseq, \#(chain), \#(floor),
                NULL::text, NULL::text FROM shards AS s WHERE s.shard = p_shard;
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
        """#
    }

    /// A room at one moment: one row per living element, and one row without element when there is none.
    static let readRoom = #"""
        CREATE OR REPLACE FUNCTION read_room(p_room text, p_shard smallint)
        RETURNS TABLE (epoch text, gseq bigint, seq bigint, element_id text, element_seq bigint, element text)
        LANGUAGE plpgsql STABLE
        SET plan_cache_mode = force_generic_plan SET extra_float_digits = 1
        SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
        AS $$
        #variable_conflict use_column
        BEGIN
            RETURN QUERY SELECT m.value, s.gseq, coalesce(r.seq, 0), e.element_id, e.seq, element_json(e)
                FROM meta AS m
                JOIN shards AS s ON s.shard = p_shard
                LEFT JOIN rooms AS r ON r.room_id = p_room
                LEFT JOIN elements AS e ON e.room_id = p_room AND e.deleted_seq IS NULL
                WHERE m.key = 'epoch';
        END
        $$;
        """#

    /// A room's log after a number, in order.
    static let readRoomLog = #"""
        CREATE OR REPLACE FUNCTION read_room_log(p_room text, p_after bigint, p_limit integer)
        RETURNS TABLE (
            shard smallint, gseq bigint, room_id text, seq bigint, at timestamptz, event text, user_id text,
            session text, n bigint, gesture bigint, element_id text, before text, after text)
        LANGUAGE plpgsql STABLE
        SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_sort = off
        AS $$
        #variable_conflict use_column
        BEGIN
            RETURN QUERY SELECT l.shard, l.gseq, l.room_id, l.seq, l.at, l.event, l.user_id, l.session, l.n, l.gesture,
                l.element_id, l.before::text, l.after::text
                FROM commit_log AS l WHERE l.room_id = p_room AND l.seq > p_after
                ORDER BY l.room_id, l.seq LIMIT p_limit;
        END
        $$;
        """#

    /// A shard's log after a number, in order.
    static let readShardLog = #"""
        CREATE OR REPLACE FUNCTION read_shard_log(p_shard smallint, p_after_gseq bigint, p_limit integer)
        RETURNS TABLE (
            shard smallint, gseq bigint, room_id text, seq bigint, at timestamptz, event text, user_id text,
            session text, n bigint, gesture bigint, element_id text, before text, after text)
        LANGUAGE plpgsql STABLE
        SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_sort = off
        AS $$
        #variable_conflict use_column
        BEGIN
            RETURN QUERY SELECT l.shard, l.gseq, l.room_id, l.seq, l.at, l.event, l.user_id, l.session, l.n, l.gesture,
                l.element_id, l.before::text, l.after::text
                FROM commit_log AS l WHERE l.shard = p_shard AND l.gseq > p_after_gseq
                ORDER BY l.shard, l.gseq LIMIT p_limit;
        END
        $$;
        """#

    /// How far every shard is.
    static let shardHeads = #"""
        CREATE OR REPLACE FUNCTION shard_heads() RETURNS TABLE (shard smallint, gseq bigint)
        LANGUAGE sql STABLE PARALLEL SAFE
        AS $$
            SELECT s.shard, s.gseq FROM shards AS s ORDER BY s.shard
        $$;
        """#

    /// A session gets a new owner: its claim is raised. No row when it is another user's. It needs no lock but the
    /// session's row: `commit_batch` checks the claim of every session that it writes.
    static let claimSession = #"""
        CREATE OR REPLACE FUNCTION claim_session(p_room text, p_session text, p_user text)
        RETURNS TABLE (claim integer, hw bigint)
        LANGUAGE plpgsql VOLATILE
        AS $$
        #variable_conflict use_column
        BEGIN
            -- A session that never committed has no row and its first owner has claim 1.
            RETURN QUERY INSERT INTO sessions AS s (room_id, session, user_id, hw, claim)
                VALUES (p_room, p_session, p_user, 0, 2)
                ON CONFLICT (room_id, session) DO UPDATE
                    SET claim = s.claim + 1, updated_at = clock_timestamp()
                    WHERE s.user_id = excluded.user_id
                RETURNING s.claim, s.hw;
        END
        $$;
        """#

    /// Everything, in the order in which it is created.
    static let all = [
        elementJSON, loadShardState, readRoom, readRoomLog, readShardLog, shardHeads, claimSession,
    ]
}
