-- A room is read by an index of its living elements. Rows of deleted ones stay, so that their ids are not used again: whoever
-- created and deleted elements for days made every read of the room pass over all of them, until it took longer than a
-- statement may. Moving an element changes nothing that the index has.
CREATE INDEX elements_living ON elements (room_id, type) WHERE deleted_seq IS NULL;

-- read_room as before. To the planner, who does not know how many deleted elements this room has, the table's key is as good:
-- only the index has the order that is asked for, and nothing may be sorted.
CREATE OR REPLACE FUNCTION read_room(p_room text, p_shard smallint)
RETURNS TABLE (
    epoch text, gseq bigint, seq bigint, element_id text, element_seq bigint, element text, chain bigint)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET extra_float_digits = 1
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_sort = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT m.value, s.gseq, coalesce(r.seq, 0), e.element_id, e.seq, element_json(e), s.chain
        FROM meta AS m
        JOIN shards AS s ON s.shard = p_shard
        LEFT JOIN rooms AS r ON r.room_id = p_room
        LEFT JOIN LATERAL (
            SELECT l.* FROM elements AS l WHERE l.room_id = p_room AND l.deleted_seq IS NULL
            ORDER BY l.room_id, l.type OFFSET 0) AS e ON true
        WHERE m.key = 'epoch';
END
$$;

-- Dropping a day waits a tenth of a second for the lock, and commits wait behind it. While somebody reads the log for long it
-- is tried again and again: half a second each time was felt.
ALTER FUNCTION maintain_log(integer, timestamptz) SET lock_timeout = '100ms';
