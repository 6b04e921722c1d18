-- Which history the database is on.
--
-- meta.epoch names the history to apps: while it stays the same, a room's number means the same update. It is replaced
-- whenever rows may have been lost that somebody has seen.

CREATE TABLE meta (
    key   text COLLATE "C" PRIMARY KEY,
    value text COLLATE "C" NOT NULL
);
COMMENT ON TABLE meta IS 'epoch: names this database history; session_key: secret that seals session tokens; '
    'session_floor, sessions_swept: see sweep_sessions';

-- A new name for the history.
CREATE FUNCTION new_epoch() RETURNS text LANGUAGE sql VOLATILE
AS $$ SELECT left(replace(gen_random_uuid()::text, '-', ''), 16) $$;

INSERT INTO meta (key, value) VALUES
    ('epoch', new_epoch()),
    ('session_key', replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''));

-- The cluster, its timeline and whether commits waited for a standby when a committer last looked, in one row. The
-- commit of this row waits for the standby like any other: a standby whose row says `synchronous` has everything that
-- was committed before it too.
CREATE TABLE history (
    is_one      boolean PRIMARY KEY DEFAULT true CHECK (is_one),
    system      bigint,
    timeline    integer,
    synchronous boolean NOT NULL DEFAULT false,
    seen_at     timestamptz NOT NULL DEFAULT clock_timestamp()
);
INSERT INTO history DEFAULT VALUES;

-- Compares what a committer sees when it connects, and regularly, with what was recorded last:
--
--     verdict   cluster   timeline   recorded                            epoch
--     same      same      same       anything                            stays
--     first     nothing was recorded                                     stays
--     failover  same      newer      synchronous, at most 15 min ago     stays
--     lost      same      newer      anything else                       new
--     restored  another   any        anything                            new
--     behind    same      older      anything                            stays; nothing is recorded
--
-- A failover follows soon after the old primary was last seen, while a restored backup is usually older: hence the 15
-- minutes. What they miss, the chain of the commit log shows to the fan-outs. A role that may not read the cluster's
-- name passes NULL, and nothing is compared.
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

-- Replaces the epoch p_from, because a fan-out saw that its history was replaced. Of several calls with the same name
-- one replaces it. Returns the name that is valid now.
CREATE FUNCTION move_epoch(p_from text) RETURNS text
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    UPDATE meta AS m SET value = new_epoch() WHERE m.key = 'epoch' AND m.value = p_from;
    RETURN (SELECT m.value FROM meta AS m WHERE m.key = 'epoch');
END
$$;
