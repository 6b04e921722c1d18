/// Which history the database is on: the cluster's name, its timeline, and whether commits wait for a standby.
///
/// `meta.epoch` names the history to apps: as long as it stays the same, a room's number means the same update. It is
/// replaced whenever rows may have been lost that somebody has seen.
enum HistorySQL {
    /// What was seen last, in one row. Its own commit waits for the standby like any other: a standby that has it
    /// saying `synchronous` has everything from before it too.
    static let history = #"""
        CREATE TABLE history (
            is_one      boolean PRIMARY KEY DEFAULT true CHECK (is_one),
            system      bigint,
            timeline    integer,
            synchronous boolean NOT NULL DEFAULT false,
            seen_at     timestamptz NOT NULL DEFAULT clock_timestamp()
        );
        INSERT INTO history DEFAULT VALUES;
        """#

    /// Compares what a committer sees when it connects, and regularly, with what was seen last:
    ///
    ///     verdict   cluster   timeline   was                                 epoch
    ///     same      same      same       anything                            stays
    ///     first     nothing was recorded                                     stays
    ///     failover  same      newer      synchronous, at most 15 min ago     stays
    ///     lost      same      newer      anything else                       new
    ///     restored  another   any        anything                            new
    ///     behind    same      older      anything                            stays; nothing is recorded
    ///
    /// A failover happens soon after the old primary was last seen, a restored backup is usually older: hence the 15
    /// minutes. What that misses the chain shows to the fan-outs. No cluster is given when the role may not ask: then
    /// nothing is compared.
    static let noteHistory = #"""
        CREATE FUNCTION note_history(
            p_system bigint, p_timeline integer, p_synchronous boolean DEFAULT NULL,
            p_now timestamptz DEFAULT clock_timestamp()
        ) RETURNS TABLE (verdict text, epoch text)
        LANGUAGE plpgsql VOLATILE
        AS $$
        #variable_conflict use_column
        DECLARE
            known history;
            waits boolean := coalesce(p_synchronous, current_setting('synchronous_standby_names') <> ''
                AND current_setting('synchronous_commit') IN ('on', 'remote_apply'));
            found_verdict text := 'same';
        BEGIN
            SELECT * INTO known FROM history;
            IF p_system IS NULL OR p_timeline IS NULL OR (known.system = p_system AND known.timeline = p_timeline
                AND known.synchronous = waits AND known.seen_at > p_now - interval '1 minute') THEN
                RETURN QUERY SELECT found_verdict, m.value FROM meta AS m WHERE m.key = 'epoch';
                RETURN;
            END IF;
            SELECT * INTO known FROM history FOR UPDATE;
            IF known.system IS NULL THEN
                found_verdict := 'first';
            ELSIF known.system <> p_system THEN
                found_verdict := 'restored';
            ELSIF p_timeline < known.timeline THEN
                found_verdict := 'behind';
            ELSIF p_timeline > known.timeline THEN
                found_verdict := CASE WHEN known.synchronous AND known.seen_at > p_now - interval '15 minutes'
                    THEN 'failover' ELSE 'lost' END;
            END IF;
            IF found_verdict IN ('restored', 'lost') THEN
                UPDATE meta AS m SET value = new_epoch() WHERE m.key = 'epoch';
            END IF;
            IF found_verdict <> 'behind' THEN
                UPDATE history SET system = p_system, timeline = p_timeline, synchronous = waits, seen_at = p_now;
            END IF;
            RETURN QUERY SELECT found_verdict, m.value FROM meta AS m WHERE m.key = 'epoch';
        END
        $$;
        """#

    /// A new name for the history.
    static let newEpoch = #"""
        CREATE FUNCTION new_epoch() RETURNS text LANGUAGE sql VOLATILE
        AS $$ SELECT left(replace(gen_random_uuid()::text, '-', ''), 16) $$;
        """#

    /// Somebody saw that the history of this name was replaced: it gets another one, once. The name now.
    static let moveEpoch = #"""
        CREATE FUNCTION move_epoch(p_from text) RETURNS text
        LANGUAGE plpgsql VOLATILE
        AS $$
        BEGIN
            UPDATE meta AS m SET value = new_epoch() WHERE m.key = 'epoch' AND m.value = p_from;
            RETURN (SELECT m.value FROM meta AS m WHERE m.key = 'epoch');
        END
        $$;
        """#

    /// The functions of ``ReadSQL`` that tell of the chain.
    static let readRoom = #"""
        DROP FUNCTION read_room(text, smallint);
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
        """#

    private static func readLog(
        _ name: String, _ parameters: String, _ condition: String, _ order: String
    ) -> String {
        #"""
        DROP FUNCTION \#(name);
        CREATE FUNCTION \#(name)(\#(parameters), p_limit integer)
        RETURNS TABLE (
            shard smallint, gseq bigint, room_id text, seq bigint, at timestamptz, event text, user_id text,
            session text, n bigint, gesture bigint, element_id text, before text, after text, body_hash bigint,
            chain bigint)
        LANGUAGE plpgsql STABLE
        SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_sort = off
        AS $$
        #variable_conflict use_column
        BEGIN
            RETURN QUERY SELECT l.shard, l.gseq, l.room_id, l.seq, l.at, l.event, l.user_id, l.session, l.n, l.gesture,
                l.element_id, l.before::text, l.after::text, l.body_hash, l.chain
                FROM commit_log AS l WHERE \#(condition)
                ORDER BY \#(order) LIMIT p_limit;
        END
        $$;
        """#
    }

    static let shardHeads = #"""
        DROP FUNCTION shard_heads();
        CREATE FUNCTION shard_heads() RETURNS TABLE (shard smallint, gseq bigint, chain bigint)
        LANGUAGE sql STABLE PARALLEL SAFE
        AS $$
            SELECT s.shard, s.gseq, s.chain FROM shards AS s ORDER BY s.shard
        $$;
        """#

    /// Everything, in the order in which it is created.
    static let all = [
        Self.history, Self.newEpoch, Self.noteHistory, Self.moveEpoch, Self.readRoom,
        Self.readLog(
            "read_room_log", "p_room text, p_after bigint", "l.room_id = p_room AND l.seq > p_after",
            "l.room_id, l.seq"),
        Self.readLog(
            "read_shard_log", "p_shard smallint, p_after_gseq bigint",
            "l.shard = p_shard AND l.gseq > p_after_gseq", "l.shard, l.gseq"),
        Self.shardHeads, "DROP FUNCTION commit_batch", CommitBatchSQL.chainedCommitBatch, ReadSQL.loadChainedState,
    ]
}
